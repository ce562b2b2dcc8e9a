//! What a log says of a query: what was offered, and what it reveals to whom. Both sides come to the same words.

use super::{Description, leak_of_prefix};
use crate::handshake::printable;
use crate::log::LookUp;
use crate::words::counted;

impl Description {
    /// What a log says of a query about this set, before anything was asked.
    pub(super) fn look_up(&self, quota_left: Option<u64>) -> LookUp {
        LookUp {
            protocol: self.protocol.clone(),
            set_items: self.capacity,
            items_per_query: self.items_per_query,
            conversations: Vec::new(),
            revealed: self.revealed(),
            quota: self.quota.clone(),
            quota_left,
        }
    }

    /// One sentence for each thing that a query reveals.
    fn revealed(&self) -> Vec<String> {
        let fields = self.payload.iter().flat_map(|schema| &schema.fields);
        let columns: Vec<String> = fields.map(|field| printable(&field.name)).collect();
        let of_these = match columns.is_empty() {
            true => String::new(),
            false => format!(", and the server's {} of these", columns.join(", ")),
        };
        let mut all = vec![
            format!("to the client: which of the keys that it asks about the server has{of_these}"),
            format!(
                "to the client: that the server's set has room for {}, and how the values of each key column are written",
                counted(self.capacity, "key", "keys")
            ),
            format!(
                "to the server: how many queries the client asks, of {} each, dummies included",
                counted(self.items_per_query, "item", "items")
            ),
        ];
        all.extend(self.leak_prefix.map(|bits| format!("to the server: {}", leak_of_prefix(bits))));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::description::example;
    use super::*;

    #[test]
    fn what_a_server_sees_and_gives_is_said() {
        let told = |description: Description| description.look_up(Some(5)).revealed.join("\n");
        let plain = told(example());
        assert!(plain.contains("room for 1024 keys") && plain.contains("of 16 items each"), "{plain}");
        assert!(!plain.contains("first 9 bits") && !plain.contains(", and the server's"), "{plain}");
        let schema = serde_json::from_str(r#"{"fields":[{"name":"label","kind":"text"}],"width":16}"#);
        let all = told(Description { leak_prefix: Some(9), payload: schema.ok(), ..example() });
        assert!(all.contains("first 9 bits") && all.contains("the server's label of these"), "{all}");
    }
}
