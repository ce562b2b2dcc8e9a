//! Messages of planes: words that hold one bit of 64 instances each.

/// Declares a message of planes, given its documentation, its name and its step. Its shape is its
/// number of words.
macro_rules! planes {
    ($(#[$doc:meta])+ $name:ident, $step:expr) => {
        $(#[$doc])+
        #[derive(Debug)]
        pub struct $name(pub Vec<u64>);

        impl vesica_party::Message for $name {
            const STEP: vesica_party::Step = $step;
            /// Words.
            type Shape = usize;

            fn len(words: &usize) -> std::ops::RangeInclusive<usize> {
                let bytes = words.saturating_mul(8);
                bytes..=bytes
            }

            fn write(&self, out: &mut vesica_party::Writer) {
                out.elements(&self.0);
            }

            fn read(
                bytes: &mut vesica_party::Reader<'_>,
                words: usize,
            ) -> Result<Self, vesica_party::Malformed> {
                bytes.elements(words).map(Self)
            }
        }
    };
}

pub(crate) use planes;
