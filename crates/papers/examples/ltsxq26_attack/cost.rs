//! What the repair costs, from the protocols' own formulas, and what an honest receiver's attack
//! costs where it is out of reach.

use vesica_papers::psi::ltsxq26::{Ltsxq26, Wide};
use vesica_papers::registry;
use vesica_party::{Protocol, Security};
use vesica_protocols::tasks::IntersectRequest;
use vesica_structures::facts::bitwise_and_width;

/// The rows that are compared.
const ROWS: [&str; 4] = ["ltsxq26-band", "ltsxq26-wide", "vole-fast", "vole-lean"];

/// Prints the tables of docs/ltsxq26.md that need no run.
pub fn print() {
    println!("Least l with n_s Pr[Bin(l, 1/2) < 128] <= 2^-40, and l of ltsxq26-wide (2^-41)");
    for log in (10..=26).step_by(2) {
        let params = <Ltsxq26<Wide> as Protocol>::derive(&request(log)).expect("sizes that are served");
        println!("  2^{log}: {} {}", bitwise_and_width(1 << log).expect("a width"), params.width);
    }
    println!("\nBits an item of a whole semi-honest run of n x n items, by formula (the most, where coding varies)");
    println!("  n     {}", ROWS.map(|id| format!("{id:>14}")).concat());
    for log in 8..=24 {
        println!("  2^{log:<3} {}", ROWS.map(|id| format!("{:14.1}", bits(id, log))).concat());
    }
    println!(
        "\nOuter hashes until the first hit, Figure 15 with an honest receiver, one of 16 entries of the dictionary \
         being the sender's"
    );
    for log in [16, 20, 24] {
        println!("  2^{log} items: 2^{:.1}", first_hit(128, log + 4, 4));
    }
    println!("\nThe same for Figure 14");
    for log in [12, 16, 20, 24] {
        println!("  2^{log} items: 2^{:.1}", first_hit(40 + 2 * log, log + 4, 4));
    }
}

fn request(log: u32) -> IntersectRequest {
    let items = 1 << log;
    IntersectRequest {
        sender_items: items,
        receiver_items: items,
        security: Security::SemiHonest,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    }
}

fn bits(id: &str, log: u32) -> f64 {
    let row = registry::intersect().iter().find(|row| row.entry().id == id).expect("a row");
    *row.predicted_bytes(&request(log)).expect("sizes that are served").end() as f64 * 8.0 / f64::from(1u32 << log)
}

/// `log2` of the guesses for as many of the lightest of `2^dictionary` candidates as hold one of
/// the sender's, one of `2^rarity` being its.
fn first_hit(width: u32, dictionary: u32, rarity: u32) -> f64 {
    let mut wanted = f64::exp2(rarity.into());
    let mut guesses = 0.0;
    let mut chance = f64::exp2(-f64::from(width));
    for weight in 0..=width {
        let taken = (f64::exp2(dictionary.into()) * chance).min(wanted);
        guesses += taken * f64::exp2(weight.into());
        wanted -= taken;
        chance *= f64::from(width - weight) / f64::from(weight + 1);
    }
    guesses.log2()
}
