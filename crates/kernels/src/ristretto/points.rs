//! Several elements side by side, on the curve -x^2 + y^2 = 1 + d x^2 y^2. Formulas without
//! exceptions: Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", section 3.

use curve25519_dalek::Scalar;
use zeroize::Zeroizing;

use super::encoded::{ENCODED_BYTES, Encoded, Uniform};
use super::field::{Field, ONE, SQRT_M1, Words, ZERO, sqrt_ratio};

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

/// The generator, as x and y (RFC 7748, section 4.1). Limbs of a constant in [`doubles`](super::doubles) are up to twice
/// those of a product, and y + x, a factor, is 2.94 times: 3 are allowed.
const GENERATOR: [Words; 2] = [
    [0xc956_2d60_8f25_d51a, 0x692c_c760_9525_a7b2, 0xc0a4_e231_fdd6_dc5c, 0x2169_36d3_cd6e_53fe],
    [0x6666_6666_6666_6658, 0x6666_6666_6666_6666, 0x6666_6666_6666_6666, 0x6666_6666_6666_6666],
];

pub(super) const MOST_LANES: usize = 8;

/// Digits of a scalar.
const DIGITS: usize = 64;

/// Multiples that a digit asks for.
const MULTIPLES: usize = 8;

/// What takes the time: compiled for each type with its instructions, by [`compiled!`]. The rest only
/// calls these.
///
/// # Safety
/// Of all functions: the machine has the instructions.
pub(super) trait Compiled: Field {
    /// Whether all are elements, and none the neutral one; the elements, and the neutral one in lanes
    /// for which there are no bytes.
    unsafe fn decode(bytes: &[Encoded]) -> (bool, Point<Self>);

    /// The sum of what both halves are mapped to.
    unsafe fn map(halves: [&[Encoded]; 2]) -> Point<Self>;

    /// Encodings of the first lanes, as many as `bytes` has room for.
    unsafe fn encode(point: &Point<Self>, bytes: &mut [Encoded]);

    /// What each point is times the scalar of its digits, and the sum of that, lane by lane.
    unsafe fn sum_of_multiples(points: &[Point<Self>], digits: &[Digits]) -> Point<Self>;

    /// The sum of all lanes of all points in each lane, but the generator in those of `mask`.
    unsafe fn total_or_generator(points: &[Point<Self>], mask: u8) -> Point<Self>;

    /// The point, but `other` in the lanes of `mask`.
    unsafe fn replaced(point: &Point<Self>, mask: u8, other: &Point<Self>) -> Point<Self>;

    /// The sum of two points, lane by lane.
    unsafe fn sum(left: &Point<Self>, right: &Point<Self>) -> Point<Self>;

    /// The first without the second, lane by lane.
    unsafe fn difference(left: &Point<Self>, right: &Point<Self>) -> Point<Self>;
}

/// Implements [`Compiled`] for a type and the features that it is written for.
macro_rules! compiled {
    ($field:ty, $features:literal) => {
        impl points::Compiled for $field {
            compiled!($features, decode(bytes: &[Encoded]) -> (bool, Point<$field>));
            compiled!($features, map(halves: [&[Encoded]; 2]) -> Point<$field>);
            compiled!($features, encode(point: &Point<$field>, bytes: &mut [Encoded]) -> ());
            compiled!($features, sum_of_multiples(points: &[Point<$field>], digits: &[Digits]) -> Point<$field>);
            compiled!($features, total_or_generator(points: &[Point<$field>], mask: u8) -> Point<$field>);
            compiled!($features, replaced(point: &Point<$field>, mask: u8, other: &Point<$field>) -> Point<$field>);
            compiled!($features, sum(left: &Point<$field>, right: &Point<$field>) -> Point<$field>);
            compiled!($features, difference(left: &Point<$field>, right: &Point<$field>) -> Point<$field>);
        }
    };
    ($features:literal, $name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        unsafe fn $name($($argument: $type),*) -> $result {
            #[target_feature(enable = $features)]
            fn compiled($($argument: $type),*) -> $result {
                // SAFETY: this function has the features.
                unsafe { points::$name($($argument),*) }
            }
            // SAFETY: the caller vouches for the instructions.
            unsafe { compiled($($argument),*) }
        }
    };
}
pub(super) use compiled;

/// [`super::multiply`].
///
/// # Safety
/// The machine has the instructions of `F`. So for the functions below.
pub(super) unsafe fn multiply<F: Compiled>(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    if elements.is_empty() {
        return true;
    }
    let mut digits = Digits::zero();
    digits.set([scalar; MOST_LANES]);
    let mut valid = true;
    for elements in elements.chunks_mut(F::LANES) {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let (are_elements, point) = F::decode(elements);
            valid &= are_elements;
            F::encode(&F::sum_of_multiples(&[point], std::slice::from_ref(&digits)), elements);
        }
    }
    if !valid {
        // Multiples of what is no element could say something of the scalar.
        elements.fill([0; ENCODED_BYTES]);
    }
    valid
}

/// [`super::map_and_multiply`].
///
/// # Safety
/// As above.
pub(super) unsafe fn map_and_multiply<F: Compiled>(scalar: &Scalar, uniform: &[Uniform], out: &mut [Encoded]) {
    if uniform.is_empty() {
        return;
    }
    let mut digits = Digits::zero();
    digits.set([scalar; MOST_LANES]);
    for (uniform, out) in uniform.chunks(F::LANES).zip(out.chunks_mut(F::LANES)) {
        // SAFETY: the caller vouches for the instructions.
        unsafe { F::encode(&F::sum_of_multiples(&[mapped(uniform)], std::slice::from_ref(&digits)), out) };
    }
}

/// [`super::multiply_by_each`].
///
/// # Safety
/// As above.
pub(super) unsafe fn multiply_by_each<F: Compiled>(scalars: &[Scalar], elements: &mut [Encoded]) -> bool {
    let mut valid = true;
    for (scalars, elements) in scalars.chunks(F::LANES).zip(elements.chunks_mut(F::LANES)) {
        let mut digits = Digits::zero();
        digits.set_each(scalars);
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let (are_elements, point) = F::decode(elements);
            valid &= are_elements;
            F::encode(&F::sum_of_multiples(&[point], std::slice::from_ref(&digits)), elements);
        }
    }
    if !valid {
        elements.fill([0; ENCODED_BYTES]);
    }
    valid
}

/// [`super::map_and_multiply_by_each`].
///
/// # Safety
/// As above.
pub(super) unsafe fn map_and_multiply_by_each<F: Compiled>(
    scalars: &[Scalar],
    uniform: &[Uniform],
    out: &mut [Encoded],
) {
    let lanes = uniform.chunks(F::LANES).zip(out.chunks_mut(F::LANES));
    for (scalars, (uniform, out)) in scalars.chunks(F::LANES).zip(lanes) {
        let mut digits = Digits::zero();
        digits.set_each(scalars);
        // SAFETY: the caller vouches for the instructions.
        unsafe { F::encode(&F::sum_of_multiples(&[mapped(uniform)], std::slice::from_ref(&digits)), out) };
    }
}

/// The element that each lane's bytes are mapped to; lanes without bytes hold some element.
///
/// # Safety
/// As above.
unsafe fn mapped<F: Compiled>(uniform: &[Uniform]) -> Point<F> {
    let mut halves = Zeroizing::new([[[0; ENCODED_BYTES]; MOST_LANES]; 2]);
    for (lane, uniform) in uniform.iter().enumerate() {
        let (bytes, _) = uniform.as_chunks();
        (halves[0][lane], halves[1][lane]) = (bytes[0], bytes[1]);
    }
    // SAFETY: the caller vouches for the instructions.
    unsafe { F::map(halves.each_ref().map(|half| &half[..F::LANES])) }
}

/// [`super::map`].
///
/// # Safety
/// As above.
pub(super) unsafe fn map_all<F: Compiled>(uniform: &[Uniform], out: &mut [Encoded]) {
    for (uniform, out) in uniform.chunks(F::LANES).zip(out.chunks_mut(F::LANES)) {
        // SAFETY: the caller vouches for the instructions.
        unsafe { F::encode(&mapped(uniform), out) };
    }
}

/// [`super::add_map_and_multiply`].
///
/// # Safety
/// As above.
pub(super) unsafe fn add_map_and_multiply<F: Compiled>(
    scalar: &Scalar,
    elements: &mut [Encoded],
    uniform: &[Uniform],
) -> bool {
    if elements.is_empty() {
        return true;
    }
    let mut digits = Digits::zero();
    digits.set([scalar; MOST_LANES]);
    let mut valid = true;
    for (elements, uniform) in elements.chunks_mut(F::LANES).zip(uniform.chunks(F::LANES)) {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let (are_elements, point) = F::decode(elements);
            valid &= are_elements;
            let sum = F::sum(&point, &mapped(uniform));
            F::encode(&F::sum_of_multiples(&[sum], std::slice::from_ref(&digits)), elements);
        }
    }
    if !valid {
        elements.fill([0; ENCODED_BYTES]);
    }
    valid
}

/// [`super::generate_and_subtract_map`].
///
/// # Safety
/// As above.
pub(super) unsafe fn generate_and_subtract_map<F: Compiled>(
    scalars: &[Scalar],
    uniform: &[Uniform],
    out: &mut [Encoded],
) {
    if scalars.is_empty() {
        return;
    }
    // SAFETY: the caller vouches for the instructions; below, too.
    let generator = unsafe { F::total_or_generator(&[], F::ALL) };
    for ((scalars, uniform), out) in
        scalars.chunks(F::LANES).zip(uniform.chunks(F::LANES)).zip(out.chunks_mut(F::LANES))
    {
        let mut digits = Digits::zero();
        digits.set_each(scalars);
        // SAFETY: as above.
        unsafe {
            let multiple = F::sum_of_multiples(&[generator], std::slice::from_ref(&digits));
            F::encode(&F::difference(&multiple, &mapped(uniform)), out);
        }
    }
}

/// [`super::multiply_each`].
///
/// # Safety
/// As above.
pub(super) unsafe fn multiply_each<F: Compiled>(element: &Encoded, scalars: &[Scalar], out: &mut [Encoded]) -> bool {
    if scalars.is_empty() {
        return true;
    }
    // SAFETY: the caller vouches for the instructions; below, too.
    let (is_element, point) = unsafe { F::decode(&[*element; MOST_LANES][..F::LANES]) };
    if !is_element {
        out.fill([0; ENCODED_BYTES]);
        return false;
    }
    for (scalars, out) in scalars.chunks(F::LANES).zip(out.chunks_mut(F::LANES)) {
        let mut digits = Digits::zero();
        digits.set_each(scalars);
        // SAFETY: as above.
        unsafe { F::encode(&F::sum_of_multiples(&[point], std::slice::from_ref(&digits)), out) };
    }
    true
}

/// A scalar for each lane to the base of 16, lowest digit first, digits from -8 to 7: of each digit
/// its amount and whether it is negative, in the lane's byte of a word.
pub(super) struct Digits(Zeroizing<[[u64; 2]; DIGITS]>);

impl Digits {
    pub(super) fn zero() -> Self {
        Self(Zeroizing::new([[0; 2]; DIGITS]))
    }

    /// Fills in the digits of these scalars, where zeros were. In place, and never inlined: digits that are
    /// returned leave a copy on the stack that nobody wipes.
    #[inline(never)]
    pub(super) fn set(&mut self, scalars: [&Scalar; MOST_LANES]) {
        let digits = &mut self.0;
        for (lane, scalar) in scalars.into_iter().enumerate() {
            let bytes = Zeroizing::new(scalar.to_bytes());
            let mut carry = 0;
            for (i, digit) in digits.iter_mut().enumerate() {
                let nibble = (bytes[i / 2] >> (4 * (i % 2)) & 15) as i8 + carry;
                // Scalars are below 2^253, so nothing is carried out of the last digit.
                carry = (nibble + 8) >> 4;
                let value = nibble - (carry << 4);
                digit[0] |= u64::from(value.unsigned_abs()) << (8 * lane);
                digit[1] |= u64::from(value < 0) << (8 * lane);
            }
        }
    }

    /// As [`Self::set`] with a scalar for each of the first lanes, and zero in the others.
    pub(super) fn set_each(&mut self, scalars: &[Scalar]) {
        let mut lanes = [&Scalar::ZERO; MOST_LANES];
        lanes.iter_mut().zip(scalars).for_each(|(lane, scalar)| *lane = scalar);
        self.set(lanes);
    }

    /// The lanes whose digit at this place has this amount; without a branch.
    #[inline(always)]
    fn of_amount(&self, place: usize, amount: u64) -> u8 {
        // Amounts are at most 8: the fifth bit of a byte is left where they are the same.
        lanes_of((EACH * 16 - (self.0[place][0] ^ (EACH * amount))) >> 4 & EACH)
    }

    /// The lanes whose digit at this place is negative.
    #[inline(always)]
    fn negative(&self, place: usize) -> u8 {
        lanes_of(self.0[place][1])
    }
}

/// One in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The mask of the lanes whose byte is one, where the others are zero; in a way that the compiler
/// cannot see through to make a branch.
#[inline(always)]
fn lanes_of(bytes: u64) -> u8 {
    std::hint::black_box((bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8)
}

/// Whether these are the canonical bytes of a field element that is not negative (RFC 9496, section
/// 4.3.1, step 1), nor zero, which encodes the neutral element.
fn is_canonical_and_not_neutral(bytes: &Encoded) -> bool {
    let at_least_modulus = bytes[0] >= 0xed && bytes[1..31].iter().all(|&byte| byte == 0xff) && bytes[31] == 0x7f;
    bytes[0] & 1 == 0 && bytes[31] < 0x80 && !at_least_modulus && *bytes != [0; ENCODED_BYTES]
}

/// A point a lane, in extended coordinates: x = X / Z, y = Y / Z, x y = T / Z.
#[derive(Clone, Copy)]
pub(super) struct Point<F> {
    x: F,
    y: F,
    z: F,
    t: F,
}

/// What is added to a point: Y + X, Y - X, Z and 2 d T of another.
#[derive(Clone, Copy)]
struct Cached<F> {
    sum: F,
    difference: F,
    z: F,
    t2d: F,
}

/// A point as x = X / Z, y = Y / T: what sums and doubles come as.
struct Completed<F> {
    x: F,
    y: F,
    z: F,
    t: F,
}

impl<F: Field> Completed<F> {
    #[inline(always)]
    fn extended(&self) -> Point<F> {
        Point { x: self.x.mul(&self.t), y: self.y.mul(&self.z), z: self.z.mul(&self.t), t: self.x.mul(&self.y) }
    }

    /// Twice the point. `T` of a point is not needed for that, and not computed.
    #[inline(always)]
    fn doubled(&self) -> Self {
        double(&self.x.mul(&self.t), &self.y.mul(&self.z), &self.z.mul(&self.t))
    }
}

#[inline(always)]
fn double<F: Field>(x: &F, y: &F, z: &F) -> Completed<F> {
    let (xx, yy, zz2) = (x.square(), y.square(), z.square_twice());
    let (sum, difference) = (yy.add(&xx), yy.sub(&xx));
    Completed { x: x.add(y).square().sub(&sum), y: sum, z: difference, t: zz2.sub(&difference) }
}

/// # Safety
/// The machine has the instructions of `F`. So for the functions below.
#[inline(always)]
pub(super) unsafe fn sum_of_multiples<F: Field>(points: &[Point<F>], digits: &[Digits]) -> Point<F> {
    let Some((first, others)) = points.split_first() else {
        // SAFETY: the caller vouches for the instructions.
        return Point::neutral(&unsafe { F::splat(&ZERO) });
    };
    let first = first.multiples();
    let mut multiples = Vec::with_capacity(others.len());
    for point in others {
        multiples.push(point.multiples());
    }
    let mut sum = Point::neutral(&first[0].z);
    for place in (1..DIGITS).rev() {
        for (multiples, digits) in multiples.iter().zip(&digits[1..]) {
            sum = sum.add(&Cached::multiple(multiples, digits, place));
        }
        let mut completed = sum.add_completed(&Cached::multiple(&first, &digits[0], place));
        for _ in 0..4 {
            completed = completed.doubled();
        }
        sum = completed.extended();
    }
    for (multiples, digits) in multiples.iter().zip(&digits[1..]) {
        sum = sum.add(&Cached::multiple(multiples, digits, 0));
    }
    sum.add(&Cached::multiple(&first, &digits[0], 0))
}

/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn total_or_generator<F: Field>(points: &[Point<F>], mask: u8) -> Point<F> {
    // SAFETY: the caller vouches for the instructions.
    let mut total = Point::neutral(&unsafe { F::splat(&ZERO) });
    for point in points {
        total = total.add(&point.cached());
    }
    let mut distance = 1;
    while distance < F::LANES {
        total = total.add(&total.exchanged(distance).cached());
        distance *= 2;
    }
    let value = &total.x;
    let (x, y) = (value.constant(&GENERATOR[0]), value.constant(&GENERATOR[1]));
    total.select(mask, &Point { x, y, z: value.constant(&ONE), t: x.mul(&y) })
}

/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn replaced<F: Field>(point: &Point<F>, mask: u8, other: &Point<F>) -> Point<F> {
    point.select(mask, other)
}

/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn sum<F: Field>(left: &Point<F>, right: &Point<F>) -> Point<F> {
    left.add(&right.cached())
}

/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn difference<F: Field>(left: &Point<F>, right: &Point<F>) -> Point<F> {
    let Cached { sum, difference, z, t2d } = right.cached();
    left.add(&Cached { sum: difference, difference: sum, z, t2d: t2d.negated() })
}

/// RFC 9496, section 4.3.1.
///
/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn decode<F: Field>(bytes: &[Encoded]) -> (bool, Point<F>) {
    let are_canonical = bytes.iter().all(is_canonical_and_not_neutral);
    // Lanes without bytes hold zero, which is the neutral element.
    // SAFETY: the caller vouches for the instructions.
    let s = unsafe { F::load(bytes) };
    let one = s.constant(&ONE);
    let ss = s.square();
    let (u1, u2) = (one.sub(&ss), one.add(&ss));
    let u2_squared = u2.square();
    let v = s.constant(&D).mul(&u1.square()).add(&u2_squared).negated();
    let (was_square, inverse_root) = sqrt_ratio(&one, &v.mul(&u2_squared));
    let den_x = inverse_root.mul(&u2);
    let den_y = inverse_root.mul(&den_x).mul(&v);
    let x = s.mul(&den_x);
    let x = x.add(&x).abs();
    let y = u1.mul(&den_y);
    let t = x.mul(&y);
    let are_points = was_square & !t.is_negative() & !y.is_zero() == F::ALL;
    (are_canonical & are_points, Point { x, y, z: one, t })
}

/// The sum of `MAP` of RFC 9496, section 4.3.4, of both halves.
///
/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn map<F: Field>(halves: [&[Encoded]; 2]) -> Point<F> {
    // SAFETY: the caller vouches for the instructions.
    let halves = unsafe { [F::load(halves[0]), F::load(halves[1])] };
    let mut points = [Point::neutral(&halves[0]); 2];
    for (point, half) in points.iter_mut().zip(&halves) {
        *point = Point::map(half);
    }
    points[0].add(&points[1].cached())
}

/// RFC 9496, section 4.3.2.
///
/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn encode<F: Field>(point: &Point<F>, bytes: &mut [Encoded]) {
    let Point { x, y, z, t } = point;
    let u1 = z.add(y).mul(&z.sub(y));
    let u2 = x.mul(y);
    let (_, inverse_root) = sqrt_ratio(&z.constant(&ONE), &u1.mul(&u2.square()));
    let (den_1, den_2) = (inverse_root.mul(&u1), inverse_root.mul(&u2));
    let z_inverse = den_1.mul(&den_2).mul(t);
    let i = z.constant(&SQRT_M1);
    let rotate = t.mul(&z_inverse).is_negative();
    let den_inverse = den_2.select(rotate, &den_1.mul(&z.constant(&INVSQRT_A_MINUS_D)));
    let (x, y) = (x.select(rotate, &y.mul(&i)), y.select(rotate, &x.mul(&i)));
    let y = y.negated_where(x.mul(&z_inverse).is_negative());
    den_inverse.mul(&z.sub(&y)).abs().store(bytes);
}

impl<F: Field> Point<F> {
    #[inline(always)]
    fn cached(&self) -> Cached<F> {
        Cached {
            sum: self.y.add(&self.x),
            difference: self.y.sub(&self.x),
            z: self.z,
            t2d: self.t.mul(&self.t.constant(&D2)),
        }
    }

    #[inline(always)]
    fn add(&self, other: &Cached<F>) -> Self {
        self.add_completed(other).extended()
    }

    #[inline(always)]
    fn add_completed(&self, other: &Cached<F>) -> Completed<F> {
        let plus = self.y.add(&self.x).mul(&other.sum);
        let minus = self.y.sub(&self.x).mul(&other.difference);
        let tt2d = self.t.mul(&other.t2d);
        let zz = self.z.mul(&other.z);
        let zz2 = zz.add(&zz);
        Completed { x: plus.sub(&minus), y: plus.add(&minus), z: zz2.add(&tt2d), t: zz2.sub(&tt2d) }
    }

    /// The neutral element in all lanes, where there is a value of the field.
    #[inline(always)]
    fn neutral(value: &F) -> Self {
        let (zero, one) = (value.constant(&ZERO), value.constant(&ONE));
        Self { x: zero, y: one, z: one, t: zero }
    }

    /// `other` in the lanes of `mask`.
    #[inline(always)]
    fn select(&self, mask: u8, other: &Self) -> Self {
        Self {
            x: self.x.select(mask, &other.x),
            y: self.y.select(mask, &other.y),
            z: self.z.select(mask, &other.z),
            t: self.t.select(mask, &other.t),
        }
    }

    /// In each lane the point of the lane whose number differs in the bit `distance`.
    #[inline(always)]
    fn exchanged(&self, distance: usize) -> Self {
        Self {
            x: self.x.exchanged(distance),
            y: self.y.exchanged(distance),
            z: self.z.exchanged(distance),
            t: self.t.exchanged(distance),
        }
    }

    /// The point once, twice and so on.
    #[inline(always)]
    fn multiples(&self) -> [Cached<F>; MULTIPLES] {
        let mut multiples = [self.cached(); MULTIPLES];
        let mut last = *self;
        for multiple in &mut multiples[1..] {
            last = last.add(&self.cached());
            *multiple = last.cached();
        }
        multiples
    }

    /// `MAP` of RFC 9496, section 4.3.4.
    #[inline(always)]
    fn map(t: &F) -> Self {
        let (one, d) = (t.constant(&ONE), t.constant(&D));
        let r = t.constant(&SQRT_M1).mul(&t.square());
        let u = r.add(&one).mul(&t.constant(&ONE_MINUS_D_SQ));
        let v = one.add(&r.mul(&d)).negated().mul(&r.add(&d));
        let (was_square, s) = sqrt_ratio(&u, &v);
        let s = s.mul(t).abs().negated().select(was_square, &s);
        let c = r.select(was_square, &one.negated());
        let n = c.mul(&r.sub(&one)).mul(&t.constant(&D_MINUS_ONE_SQ)).sub(&v);
        let ss = s.square();
        let w0 = s.add(&s).mul(&v);
        let w1 = n.mul(&t.constant(&SQRT_AD_MINUS_ONE));
        let (w2, w3) = (one.sub(&ss), one.add(&ss));
        Self { x: w0.mul(&w3), y: w2.mul(&w1), z: w1.mul(&w3), t: w0.mul(&w2) }
    }
}

impl<F: Field> Cached<F> {
    /// The multiples that the digits at this place ask for. All are read, whatever the digits: they are
    /// secret.
    #[inline(always)]
    fn multiple(multiples: &[Self; MULTIPLES], digits: &Digits, place: usize) -> Self {
        let one = multiples[0].z.constant(&ONE);
        let mut chosen = Self { sum: one, difference: one, z: one, t2d: one.constant(&ZERO) };
        for (multiple, amount) in multiples.iter().zip(1..) {
            let mask = digits.of_amount(place, amount);
            chosen.sum = chosen.sum.select(mask, &multiple.sum);
            chosen.difference = chosen.difference.select(mask, &multiple.difference);
            chosen.z = chosen.z.select(mask, &multiple.z);
            chosen.t2d = chosen.t2d.select(mask, &multiple.t2d);
        }
        let negative = digits.negative(place);
        Self {
            sum: chosen.sum.select(negative, &chosen.difference),
            difference: chosen.difference.select(negative, &chosen.sum),
            z: chosen.z,
            t2d: chosen.t2d.negated_where(negative),
        }
    }
}
