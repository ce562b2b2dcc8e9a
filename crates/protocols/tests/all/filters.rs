//! Variants whose sender sends a filter of its tags.

use vesica_party::Security;
use vesica_party::variants::with_variants;
use vesica_protocols::tasks::IntersectRequest;

use crate::registry;

/// What goes by the places of a list, or is for malicious parties, has no filter, in any row.
#[test]
fn requests_that_a_filter_cannot_serve_are_refused_with_a_mend() {
    let plain = IntersectRequest {
        sender_items: 10,
        receiver_items: 10,
        security: Security::SemiHonest,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    };
    for row in with_variants(registry::intersect().iter().copied()) {
        let id = row.entry().id;
        if !id.contains("compare=") {
            continue;
        }
        assert!(row.predicted_bytes(&plain).is_ok(), "{id}");
        for (request, mend) in [
            (IntersectRequest { payload_bytes: 4, ..plain }, "compare=list"),
            // Rows with several tags an item refuse that of their list as well.
            (IntersectRequest { both_learn: true, ..plain }, "let only the receiver learn"),
            (IntersectRequest { security: Security::Malicious, ..plain }, "semi-honest"),
        ] {
            let refusal = row.predicted_bytes(&request).expect_err("refused");
            assert!(refusal.mend.contains(mend), "{id}: {refusal}");
        }
    }
}
