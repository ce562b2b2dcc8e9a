//! Eight elements side by side, on the curve -x^2 + y^2 = 1 + d x^2 y^2. Formulas without
//! exceptions: Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", section 3.

use std::arch::x86_64::__mmask8;

use curve25519_dalek::Scalar;
use zeroize::Zeroizing;

use super::field::{Field, LANES, ONE, SQRT_M1, Words, ZERO};
use super::{ENCODED_BYTES, Encoded, Uniform};

/// RFC 9496, section 4.1.
const D: Words = [0x75eb_4dca_1359_78a3, 0x0070_0a4d_4141_d8ab, 0x8cc7_4079_7779_e898, 0x5203_6cee_2b6f_fe73];
const SQRT_AD_MINUS_ONE: Words =
    [0x7e97_f6a0_497b_2e1b, 0xaf9d_8e0c_1b78_54bd, 0x0f3c_fcc9_31f5_d1fd, 0x3769_31bf_2b83_48ac];
const INVSQRT_A_MINUS_D: Words =
    [0x99c8_fdaa_805d_40ea, 0x9d2f_1617_5a41_72be, 0x16c2_7b91_fe01_d840, 0x786c_8905_cfaf_fca2];
const ONE_MINUS_D_SQ: Words =
    [0xe27c_09c1_945f_c176, 0x2c81_a138_cd5e_350f, 0x9994_abdd_be70_dfe4, 0x0290_72a8_b2b3_e0d7];
const D_MINUS_ONE_SQ: Words =
    [0x31ad_5aaa_44ed_4d20, 0xd29e_4a2c_b01e_1999, 0x4cdc_d32f_529b_4eeb, 0x5968_b37a_f66c_2241];
/// Twice `D`.
const D2: Words = [0xebd6_9b94_26b2_f159, 0x00e0_149a_8283_b156, 0x198e_80f2_eef3_d130, 0x2406_d9dc_56df_fce7];

/// Digits of a scalar.
const DIGITS: usize = 64;

/// Multiples that a digit asks for.
const MULTIPLES: usize = 8;

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn multiply(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    let digits = digits(scalar);
    let mut valid = true;
    for elements in elements.chunks_mut(LANES) {
        valid &= elements.iter().all(is_canonical_and_not_neutral);
        let mut lanes = [[0; ENCODED_BYTES]; LANES];
        lanes[..elements.len()].copy_from_slice(elements);
        let (on_curve, point) = Point::decode(&lanes);
        valid &= on_curve == u8::MAX;
        elements.copy_from_slice(&point.times(&digits).encode()[..elements.len()]);
    }
    if !valid {
        // Multiples of what is no element could say something of the scalar.
        elements.fill([0; ENCODED_BYTES]);
    }
    valid
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn map_and_multiply(scalar: &Scalar, uniform: &[Uniform], out: &mut [Encoded]) {
    let digits = digits(scalar);
    for (uniform, out) in uniform.chunks(LANES).zip(out.chunks_mut(LANES)) {
        let mut halves = Zeroizing::new([[[0; ENCODED_BYTES]; LANES]; 2]);
        for (lane, uniform) in uniform.iter().enumerate() {
            let (bytes, _) = uniform.as_chunks();
            (halves[0][lane], halves[1][lane]) = (bytes[0], bytes[1]);
        }
        let [first, second] = halves.each_ref().map(|half| Point::map(&Field::load(half)));
        let point = first.add(&second.cached());
        out.copy_from_slice(&point.times(&digits).encode()[..out.len()]);
    }
}

/// The scalar to the base of 16, lowest digit first, digits from -8 to 7.
fn digits(scalar: &Scalar) -> Zeroizing<[i8; DIGITS]> {
    let bytes = Zeroizing::new(scalar.to_bytes());
    let mut digits = Zeroizing::new([0; DIGITS]);
    let mut carry = 0;
    for (i, digit) in digits.iter_mut().enumerate() {
        let nibble = (bytes[i / 2] >> (4 * (i % 2)) & 15) as i8 + carry;
        // Scalars are below 2^253, so nothing is carried out of the last digit.
        carry = (nibble + 8) >> 4;
        *digit = nibble - (carry << 4);
    }
    digits
}

/// Whether these are the canonical bytes of a field element that is not negative (RFC 9496, section
/// 4.3.1, step 1), nor zero, which encodes the neutral element.
fn is_canonical_and_not_neutral(bytes: &Encoded) -> bool {
    let at_least_modulus = bytes[0] >= 0xed && bytes[1..31].iter().all(|&byte| byte == 0xff) && bytes[31] == 0x7f;
    bytes[0] & 1 == 0 && bytes[31] < 0x80 && !at_least_modulus && *bytes != [0; ENCODED_BYTES]
}

/// Eight points in extended coordinates: x = X / Z, y = Y / Z, x y = T / Z.
#[derive(Clone, Copy)]
struct Point {
    x: Field,
    y: Field,
    z: Field,
    t: Field,
}

/// What is added to a point: Y + X, Y - X, Z and 2 d T of another.
#[derive(Clone, Copy)]
struct Cached {
    sum: Field,
    difference: Field,
    z: Field,
    t2d: Field,
}

/// A point as x = X / Z, y = Y / T: what sums and doubles come as.
struct Completed {
    x: Field,
    y: Field,
    z: Field,
    t: Field,
}

impl Completed {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn extended(&self) -> Point {
        Point { x: self.x.mul(&self.t), y: self.y.mul(&self.z), z: self.z.mul(&self.t), t: self.x.mul(&self.y) }
    }

    /// Twice the point. `T` of a point is not needed for that, and not computed.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn doubled(&self) -> Self {
        double(&self.x.mul(&self.t), &self.y.mul(&self.z), &self.z.mul(&self.t))
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn double(x: &Field, y: &Field, z: &Field) -> Completed {
    let (xx, yy, zz2) = (x.square(), y.square(), z.square_twice());
    let (sum, difference) = (yy.add(&xx), yy.sub(&xx));
    Completed { x: x.add(y).square().sub(&sum), y: sum, z: difference, t: zz2.sub(&difference) }
}

impl Point {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn cached(&self) -> Cached {
        Cached {
            sum: self.y.add(&self.x),
            difference: self.y.sub(&self.x),
            z: self.z,
            t2d: self.t.mul(&Field::splat(&D2)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn add(&self, other: &Cached) -> Self {
        self.add_completed(other).extended()
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn add_completed(&self, other: &Cached) -> Completed {
        let plus = self.y.add(&self.x).mul(&other.sum);
        let minus = self.y.sub(&self.x).mul(&other.difference);
        let tt2d = self.t.mul(&other.t2d);
        let zz = self.z.mul(&other.z);
        let zz2 = zz.add(&zz);
        Completed { x: plus.sub(&minus), y: plus.add(&minus), z: zz2.add(&tt2d), t: zz2.sub(&tt2d) }
    }

    /// The multiple of each point by the scalar of these digits.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn times(&self, digits: &[i8; DIGITS]) -> Self {
        let mut multiples = [self.cached(); MULTIPLES];
        let mut last = *self;
        for i in 1..MULTIPLES {
            last = last.add(&multiples[0]);
            multiples[i] = last.cached();
        }
        let mut product =
            Point { x: Field::splat(&ZERO), y: Field::splat(&ONE), z: Field::splat(&ONE), t: Field::splat(&ZERO) };
        for &digit in digits[1..].iter().rev() {
            let sum = product.add_completed(&Cached::multiple(&multiples, digit));
            product = sum.doubled().doubled().doubled().doubled().extended();
        }
        product.add(&Cached::multiple(&multiples, digits[0]))
    }

    /// RFC 9496, section 4.3.1, from step 2 on; the lanes that are elements.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn decode(bytes: &[Encoded; LANES]) -> (__mmask8, Self) {
        let one = Field::splat(&ONE);
        let s = Field::load(bytes);
        let ss = s.square();
        let (u1, u2) = (one.sub(&ss), one.add(&ss));
        let u2_squared = u2.square();
        let v = Field::splat(&D).mul(&u1.square()).add(&u2_squared).negated();
        let (was_square, inverse_root) = one.sqrt_ratio(&v.mul(&u2_squared));
        let den_x = inverse_root.mul(&u2);
        let den_y = inverse_root.mul(&den_x).mul(&v);
        let x = s.mul(&den_x);
        let x = x.add(&x).abs();
        let y = u1.mul(&den_y);
        let t = x.mul(&y);
        (was_square & !t.is_negative() & !y.is_zero(), Self { x, y, z: one, t })
    }

    /// RFC 9496, section 4.3.2.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn encode(&self) -> [Encoded; LANES] {
        let Self { x, y, z, t } = self;
        let u1 = z.add(y).mul(&z.sub(y));
        let u2 = x.mul(y);
        let (_, inverse_root) = Field::splat(&ONE).sqrt_ratio(&u1.mul(&u2.square()));
        let (den_1, den_2) = (inverse_root.mul(&u1), inverse_root.mul(&u2));
        let z_inverse = den_1.mul(&den_2).mul(t);
        let i = Field::splat(&SQRT_M1);
        let rotate = t.mul(&z_inverse).is_negative();
        let den_inverse = den_2.select(rotate, &den_1.mul(&Field::splat(&INVSQRT_A_MINUS_D)));
        let (x, y) = (x.select(rotate, &y.mul(&i)), y.select(rotate, &x.mul(&i)));
        let y = y.negated_where(x.mul(&z_inverse).is_negative());
        den_inverse.mul(&z.sub(&y)).abs().store()
    }

    /// `MAP` of RFC 9496, section 4.3.4.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn map(t: &Field) -> Self {
        let (one, d) = (Field::splat(&ONE), Field::splat(&D));
        let r = Field::splat(&SQRT_M1).mul(&t.square());
        let u = r.add(&one).mul(&Field::splat(&ONE_MINUS_D_SQ));
        let v = one.add(&r.mul(&d)).negated().mul(&r.add(&d));
        let (was_square, s) = u.sqrt_ratio(&v);
        let s = s.mul(t).abs().negated().select(was_square, &s);
        let c = r.select(was_square, &one.negated());
        let n = c.mul(&r.sub(&one)).mul(&Field::splat(&D_MINUS_ONE_SQ)).sub(&v);
        let ss = s.square();
        let w0 = s.add(&s).mul(&v);
        let w1 = n.mul(&Field::splat(&SQRT_AD_MINUS_ONE));
        let (w2, w3) = (one.sub(&ss), one.add(&ss));
        Self { x: w0.mul(&w3), y: w2.mul(&w1), z: w1.mul(&w3), t: w0.mul(&w2) }
    }
}

impl Cached {
    /// The multiple that a digit asks for. All are read, whatever the digit: it is secret.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn multiple(multiples: &[Self; MULTIPLES], digit: i8) -> Self {
        let one = Field::splat(&ONE);
        let mut chosen = Self { sum: one, difference: one, z: one, t2d: Field::splat(&ZERO) };
        for (multiple, i) in multiples.iter().zip(1..) {
            let mask = lanes_if(digit.unsigned_abs(), i);
            chosen.sum = chosen.sum.select(mask, &multiple.sum);
            chosen.difference = chosen.difference.select(mask, &multiple.difference);
            chosen.z = chosen.z.select(mask, &multiple.z);
            chosen.t2d = chosen.t2d.select(mask, &multiple.t2d);
        }
        let negative = (digit >> 7) as u8;
        Self {
            sum: chosen.sum.select(negative, &chosen.difference),
            difference: chosen.difference.select(negative, &chosen.sum),
            z: chosen.z,
            t2d: chosen.t2d.negated_where(negative),
        }
    }
}

/// All lanes if the two are the same, else none; without a branch, and in a way that the compiler
/// cannot see through to make one.
#[inline]
fn lanes_if(a: u8, b: u8) -> __mmask8 {
    let different = u16::from(a ^ b);
    std::hint::black_box((different.wrapping_sub(1) >> 8) as u8)
}
