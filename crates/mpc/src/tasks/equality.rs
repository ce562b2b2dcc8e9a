//! Task: private equality tests with shared output.

use std::fmt;

use vesica_party::{Security, Task};
use zeroize::Zeroize;

use crate::bits::Bits;

/// Equality with random values of the sender: both sides get shares of whether the values are
/// equal, test by test. A corrupt sender may choose its own values.
#[derive(Debug)]
pub struct Equality;

/// The public parameters of equality tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualityRequest {
    /// The number of tests.
    pub len: usize,
    /// Bits of a value, 1 to 128.
    pub width: u32,
    /// Against which parties.
    pub security: Security,
}

/// What the sender of equality tests gets; wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Tested {
    /// The sender's values, uniform below `2^width`: of each test the low 64 bits, then, if they are wider, of
    /// each test the bits above.
    pub values: Vec<u64>,
    /// The sender's shares. With the receiver's they add up to 1 where values are equal.
    pub shares: Bits,
}

impl Drop for Tested {
    fn drop(&mut self) {
        self.values.zeroize();
    }
}

impl fmt::Debug for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tested(..)")
    }
}

impl Task for Equality {
    const NAME: &'static str = "equality";
    type Request = EqualityRequest;
    type SenderInput = ();
    type ReceiverInput = Vec<u64>;
    type SenderOutput = Tested;
    type ReceiverOutput = Bits;

    fn holds((): &(), asked: &Vec<u64>, sender: &Tested, receiver: &Bits) -> Result<(), String> {
        let (len, words) = (receiver.len(), asked.len());
        // A value has one word or two.
        if sender.shares.len() != len || sender.values.len() != words || (words != len && words != 2 * len) {
            return Err(format!(
                "{words} words of values, {} of the sender, {} and {len} shares",
                sender.values.len(),
                sender.shares.len(),
            ));
        }
        let are_equal = |i: usize| (i..words).step_by(len).all(|at| sender.values[at] == asked[at]);
        let wrong = (0..len).find(|&i| (sender.shares.get(i) != receiver.get(i)) != are_equal(i));
        wrong.map_or(Ok(()), |i| Err(format!("the shares of test {i} of {len} are wrong")))
    }
}
