//! The bound behind the sizes of cuckoo tables at 1.24 bins an item, for 2^13 to 2^26 items
//! (minutes): `cargo run --release -p vesica-structures --example cuckoo_bound`.

use vesica_structures::hashing::{cuckoo_bins, hall_bound};

fn main() {
    for log in 13..=26 {
        let (items, bits) = (1usize << log, 43);
        let bins = cuckoo_bins(items, bits).expect("served");
        let less = items * 123 / 100;
        println!(
            "2^{log} items: 2^{:.1} at {bins} bins, 2^{:.1} at {less}",
            hall_bound(items, bins),
            hall_bound(items, less)
        );
    }
}
