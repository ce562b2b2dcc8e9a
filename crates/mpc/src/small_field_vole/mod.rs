//! Subfield VOLE made directly from the small-field correlation. It is the base VOLE of
//! [`crate::silent`], and sends less below some length.
//!
//! ```text
//!     sender                                                receiver
//!        |<======= OT extension, columns of len * |B| bits =======>|
//!   b_i = sum e_n W[n]_i                                    c_i = u_i,  a_i = sum e_n V[n]_i
//! ```
//!
//! Bits are read `|B|` at a time as elements of `B`; `e_n` is the n-th element of the bit basis of
//! `F`, so that `delta = sum delta[n] e_n` and `a = b + delta c` for every `c` in `F`
//! (multiplication by `c` is linear over GF(2)). Where `c` is to lie in a subspace of `B`, both
//! sides strike out the same bits of all columns. It sends `15 / 8 |B|` bytes an element.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, CostClass, Entry, Party, Protocol, Resistance, Security, Status, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::rng::SecretRng;

use crate::ot_extension::{self, ASSUMPTIONS, MALICIOUS};
use crate::tasks::{CorrelationRequest, SubfieldVole, VoleReceiver, VoleSender};

/// Small-field VOLE over `B`.
#[derive(Debug)]
pub struct SmallFieldVole<B>(PhantomData<fn() -> B>);

/// What both sides agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    len: usize,
    /// The width of an element of `c`, in bits.
    width: u32,
    correlation: ot_extension::Params,
}

impl Params {
    /// For elements of `bits` bits, of which `c` has the width asked for.
    pub(crate) fn new(request: &CorrelationRequest, bits: u32) -> Self {
        let blocks = request.len.div_ceil(128 / bits as usize);
        let correlation = ot_extension::Params { blocks, security: request.security };
        Self { len: request.len, width: request.width.unwrap_or(bits), correlation }
    }

    /// Bytes of all messages.
    pub(crate) fn predicted_bytes(&self) -> u64 {
        self.correlation.predicted_bytes()
    }
}

/// Refuses a width that elements of `B` do not have.
pub(crate) fn check_width<B: Value>(request: &CorrelationRequest) -> Result<(), Unsupported> {
    match request.width {
        Some(width) if !(1..=B::BITS).contains(&width) => Err(Unsupported::new(
            format_args!("VOLE elements of {width} bits"),
            format_args!("ask for 1 to {}", B::BITS),
        )),
        _ => Ok(()),
    }
}

/// A bound on elements a run: 128 columns stay in memory on either side.
const MAX_LEN: usize = 1 << 20;

impl<B: Value> Protocol for SmallFieldVole<B> {
    const ENTRY: Entry = Entry {
        id: if B::BITS == 64 { "vole-softspoken-64" } else { "vole-softspoken-128" },
        aliases: &[],
        variants: &[],
        task: SubfieldVole::<B>::NAME,
        paper: ot_extension::PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &["chunks of delta are combined by the bit basis of F, as in VOLE from bit-wise OT [KOS16]; the \
                       check is the one over bits"],
        modes: &[crate::base_ot::mode(Security::SemiHonest, Resistance::SemiHonest, 2, ASSUMPTIONS), MALICIOUS],
    };
    type Task = SubfieldVole<B>;
    type Params = Params;
    type Sender = Sender<B>;
    type Receiver = Receiver<B>;

    fn derive(request: &CorrelationRequest) -> Result<Params, Unsupported> {
        if request.len > MAX_LEN {
            return Err(Unsupported::new(
                format_args!("{} elements of small-field VOLE", request.len),
                format_args!("ask for at most {MAX_LEN}, or use silent VOLE"),
            ));
        }
        check_width::<B>(request)?;
        Ok(Params::new(request, B::BITS))
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}

/// The left column: `delta` and the columns read as elements.
pub(crate) fn send<B: Value>(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<VoleSender, Abort> {
    let base = ot_extension::sender(&params.correlation, ch, rng)?;
    let mut b = base.columns.elements::<B>(0..params.correlation.blocks, params.width);
    b.truncate(params.len);
    Ok(VoleSender { delta: Gf128(*base.delta), b })
}

/// The right column: bits and columns read as elements.
pub(crate) fn receive<B: Value>(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<VoleReceiver<B>, Abort> {
    let base = ot_extension::receiver(&params.correlation, ch, rng)?;
    let mut a = base.columns.elements::<B>(0..params.correlation.blocks, params.width);
    a.truncate(params.len);
    let c = base.elements(0..params.correlation.blocks, params.width)[..params.len].to_vec();
    Ok(VoleReceiver { c, a })
}

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender<B>(VoleSender, PhantomData<fn() -> B>);

impl<B: Value> Party for Sender<B> {
    type Params = Params;
    type Input = ();
    type Output = VoleSender;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(send::<B>(params, ch, rng)?, PhantomData))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<VoleSender, Abort> {
        Ok(self.0)
    }
}

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver<B: Value>(VoleReceiver<B>);

impl<B: Value> Party for Receiver<B> {
    type Params = Params;
    type Input = ();
    type Output = VoleReceiver<B>;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(receive(params, ch, rng)?))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<VoleReceiver<B>, Abort> {
        Ok(self.0)
    }
}
