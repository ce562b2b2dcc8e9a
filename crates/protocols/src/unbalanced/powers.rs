//! Which powers of its items a client sends, and how the server computes the others.
//!
//! The exponents that are sent are a *postage stamp basis*: sums of at most `h` of them give all
//! exponents up to the reach of the basis, so that a product of depth `log2(h)` gives each power.

/// A postage stamp basis.
#[derive(Clone, Copy, Debug)]
pub struct Basis {
    /// All exponents up to this one are sums of stamps.
    pub reach: usize,
    /// Depth of products: sums of so many stamps as the power of two with this exponent.
    pub depth: u32,
    /// The exponents.
    pub stamps: &'static [usize],
}

const fn two(reach: usize, stamps: &'static [usize]) -> Basis {
    Basis { reach, depth: 1, stamps }
}

const fn four(reach: usize, stamps: &'static [usize]) -> Basis {
    Basis { reach, depth: 2, stamps }
}

/// Bases that are extremal for their sizes: no others of as many stamps reach further. For two stamps
/// OEIS A001212 (Robinson, "Some postage stamp 2-bases", 2009), for four OEIS A001214 (Challis and
/// Robinson, "Some extremal postage stamp bases", 2010). That with the reach 104 is also in APSI's
/// parameters for 2^20 items and queries of 1024.
pub const BASES: [Basis; 23] = [
    two(2, &[1]),
    two(4, &[1, 2]),
    two(8, &[1, 3, 4]),
    two(12, &[1, 3, 5, 6]),
    two(16, &[1, 3, 5, 7, 8]),
    two(20, &[1, 2, 5, 8, 9, 10]),
    two(26, &[1, 2, 5, 8, 11, 12, 13]),
    two(32, &[1, 2, 5, 8, 11, 14, 15, 16]),
    two(40, &[1, 3, 4, 9, 11, 16, 17, 19, 20]),
    two(46, &[1, 2, 3, 7, 11, 15, 19, 21, 22, 24]),
    two(54, &[1, 2, 3, 7, 11, 15, 19, 23, 25, 26, 28]),
    two(64, &[1, 3, 4, 9, 11, 16, 21, 23, 28, 29, 31, 32]),
    two(72, &[1, 3, 4, 9, 11, 16, 20, 25, 27, 32, 33, 35, 36]),
    two(80, &[1, 3, 4, 5, 8, 14, 20, 26, 32, 35, 36, 37, 39, 40]),
    two(92, &[1, 3, 4, 5, 8, 14, 20, 26, 32, 38, 41, 42, 43, 45, 46]),
    two(104, &[1, 3, 4, 5, 8, 14, 20, 26, 32, 38, 44, 47, 48, 49, 51, 52]),
    four(4, &[1]),
    four(10, &[1, 3]),
    four(26, &[1, 5, 8]),
    four(44, &[1, 3, 11, 18]),
    four(70, &[1, 3, 11, 15, 32]),
    four(108, &[1, 4, 9, 16, 38, 49]),
    four(162, &[1, 4, 9, 24, 35, 49, 51]),
];

/// How each power up to a degree is had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Powers {
    /// Exponents that are sent, ascending.
    pub sent: Vec<usize>,
    /// For each depth of products from one on, the exponents that are computed there, each as a sum of
    /// two that are had before.
    pub computed: Vec<Vec<(usize, [usize; 2])>>,
}

impl Powers {
    /// The powers up to `degree` from those stamps of `basis` that are no larger; nothing where products
    /// of its depth do not give them all.
    pub fn new(degree: usize, basis: &Basis) -> Option<Self> {
        let sent: Vec<usize> = basis.stamps.iter().copied().filter(|&stamp| stamp <= degree).collect();
        let mut is_had = vec![false; degree + 1];
        sent.iter().for_each(|&stamp| is_had[stamp] = true);
        let mut computed = Vec::new();
        for _ in 0..basis.depth {
            let split = |exponent: usize| {
                let smaller = (1..=exponent / 2).find(|&part| is_had[part] && is_had[exponent - part])?;
                Some((exponent, [smaller, exponent - smaller]))
            };
            let level: Vec<_> = (1..=degree).filter(|&exponent| !is_had[exponent]).filter_map(split).collect();
            level.iter().for_each(|&(exponent, _)| is_had[exponent] = true);
            if !level.is_empty() {
                computed.push(level);
            }
        }
        is_had.iter().skip(1).all(|&is_had| is_had).then_some(Self { sent, computed })
    }

    /// Depth of products.
    pub fn depth(&self) -> u32 {
        self.computed.len() as u32
    }

    /// Products of ciphertexts for a group of bins.
    pub fn products(&self) -> usize {
        self.computed.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_reach_what_is_known_of_them() {
        for basis in &BASES {
            let reach = (1..).take_while(|&degree| Powers::new(degree, basis).is_some()).count();
            assert_eq!(reach, basis.reach, "{basis:?}");
            assert!(basis.stamps.is_sorted());
        }
    }

    #[test]
    fn each_power_is_the_product_of_two_that_are_had_before() {
        for basis in &BASES {
            let powers = Powers::new(basis.reach, basis).unwrap();
            let mut had = powers.sent.clone();
            for level in &powers.computed {
                assert!(level.iter().all(|(sum, parts)| parts[0] + parts[1] == *sum));
                assert!(level.iter().flat_map(|(_, parts)| parts).all(|part| had.contains(part)));
                had.extend(level.iter().map(|(exponent, _)| exponent));
            }
            had.sort_unstable();
            assert_eq!(had, (1..=basis.reach).collect::<Vec<_>>());
            assert_eq!(powers.products() + powers.sent.len(), basis.reach);
            assert!(powers.depth() <= basis.depth);
        }
        assert_eq!(Powers::new(1, &BASES[1]), Some(Powers { sent: vec![1], computed: vec![] }));
    }
}
