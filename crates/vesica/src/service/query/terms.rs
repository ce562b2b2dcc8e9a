//! Whether this side agrees to what a server offers.

use vesica_party::Security;

use super::Context;
use crate::failure::{Failure, code};
use crate::handshake::kind_warnings;
use crate::memory::{Budget, Bytes};
use crate::policy::Agreed;
use crate::rows;
use crate::service::quota::OVER_QUOTA;
use crate::service::{Description, Quota, TRUSTING, leak_of_prefix, require_post_quantum, trust_in_server};
use crate::table::{Join, KeyStats};
use crate::words::counted;

/// What this side trusts the server with, beside following the protocol in what it computes.
pub(super) fn trust(described: &Description) -> Option<String> {
    TRUSTING.iter().any(|entry| entry.id == described.protocol).then(|| trust_in_server(&described.protocol))
}

impl Context<'_> {
    /// Refuses a server to which this side has not agreed. Gives what is to be said of the others.
    pub(super) fn check(
        &self,
        described: &Description,
        quota_left: Option<u64>,
        stats: &KeyStats,
        keys: u64,
    ) -> Result<Vec<String>, Failure> {
        let (key, trust) = (&self.config.source.key, trust(described));
        let mut warnings = Vec::new();
        self.check_security(described, trust.as_deref())?;
        if self.config.post_quantum {
            require_post_quantum(&described.protocol, described.security)?;
        }
        self.check_set(described)?;
        self.check_policy(described)?;
        warnings.extend(self.check_leak(described)?);
        warnings.extend(self.check_trust(described, trust.as_deref())?);
        described.check_key(key)?;
        self.check_extent(described, quota_left, keys)?;
        if let Some(trust) = trust {
            self.events.warning(&trust);
        }
        warnings.extend(stats.warnings(key));
        warnings.extend(kind_warnings(key, &stats.kinds(), &described.key_kinds));
        Ok(warnings)
    }

    /// Refuses a server whose set or protocol is against the policy for it.
    fn check_policy(&self, described: &Description) -> Result<(), Failure> {
        // A protocol that this release does not know is refused elsewhere.
        let (Some(policy), Some(entry)) = (&self.config.policy, rows::find(&described.protocol)) else { return Ok(()) };
        let (security, partner_keys) = (described.security, described.capacity);
        policy.check_agreed(&Agreed { entry, security, partner_keys, groups: 1 })
    }

    /// Refuses a server that withstands less than is asked for.
    fn check_security(&self, described: &Description, trust: Option<&str>) -> Result<(), Failure> {
        if described.security == Security::SemiHonest && self.config.security == Security::Malicious {
            let fault =
                format!("the server offers {} security, and {} is asked for", described.security, self.config.security);
            return Err(match trust {
                None => Failure::new(
                    code::MISMATCH,
                    fault,
                    "have the server started with --security malicious; or trust it to follow the protocol, and say \
                     --security semi-honest",
                ),
                Some(trust) => Failure::new(
                    code::MISMATCH,
                    format_args!("{fault}; its protocol, {}, has no other", described.protocol),
                    format_args!(
                        "ask for another protocol, or say --security semi-honest --trust-server if that may be: {trust}"
                    ),
                ),
            });
        }
        Ok(())
    }

    /// Refuses a set that is too large, or without the columns that are asked for.
    fn check_set(&self, described: &Description) -> Result<(), Failure> {
        if described.capacity > self.config.max_set_items {
            return Err(Failure::new(
                code::REFUSED,
                format_args!(
                    "the server's set has room for {}, more than {}",
                    counted(described.capacity, "item", "items"),
                    self.config.max_set_items
                ),
                "allow more with --max-peer-items",
            ));
        }
        if self.config.destination.join == Join::Left && described.payload.is_none() {
            return Err(Failure::new(
                code::REFUSED,
                "--join left writes all rows with the server's columns beside them, and the server gives none",
                "say --join inner or difference; or ask whoever runs the server for columns (--payload)",
            ));
        }
        Ok(())
    }

    /// Says what the server will see of keys, and refuses what this side has not agreed to.
    fn check_leak(&self, described: &Description) -> Result<Option<String>, Failure> {
        let (theirs, ours) = (described.leak_prefix, self.config.leak_prefix);
        let Some(bits) = theirs else {
            return Ok(ours.map(|bits| {
                format!("this server's protocol shows it nothing of a key: --leak-prefix {bits} was not needed")
            }));
        };
        if ours == theirs {
            let leak = leak_of_prefix(bits);
            self.events.warning(&leak);
            return Ok(Some(leak));
        }
        let agreed = ours.map_or_else(String::new, |ours| format!("; --leak-prefix {ours} agrees to something else"));
        Err(Failure::new(
            code::REFUSED,
            format_args!("with this server's protocol {}{agreed}", leak_of_prefix(bits)),
            format_args!(
                "if the server may see that, say --leak-prefix {bits}; or ask whoever runs the server for another \
                 protocol"
            ),
        ))
    }

    /// Refuses a server that this side has not agreed to trust.
    fn check_trust(&self, described: &Description, trust: Option<&str>) -> Result<Option<String>, Failure> {
        let Some(trust) = trust else {
            let needless = "this server's protocol needs no trust: --trust-server was not needed";
            return Ok(self.config.trust_server.then(|| needless.to_owned()));
        };
        if self.config.trust_server {
            return Ok(None);
        }
        Err(Failure::new(
            code::REFUSED,
            format_args!("the server offers {}, and {trust}", described.protocol),
            "if that may be, say --trust-server; or ask whoever runs the server for another protocol",
        ))
    }

    /// Refuses a query that would fail in the middle.
    fn check_extent(&self, described: &Description, quota_left: Option<u64>, keys: u64) -> Result<(), Failure> {
        let queries = keys.div_ceil(described.items_per_query);
        let items = queries.saturating_mul(described.items_per_query);
        let refuse = |fault: String, mend: &str| Err(Failure::new(code::REFUSED, fault, mend));
        let of_keys = |one: &str, more: &str| counted(keys, &format!("key {one}"), &format!("keys {more}"));
        let taken = format!("{} {}", of_keys("takes", "take"), counted(items, "item", "items"));
        // The server need not hear how many keys there are.
        if let Some(quota) =
            described.quota.as_ref().filter(|quota| quota.parse().is_ok_and(|quota: Quota| items > quota.items))
        {
            let fault = format!("{taken} in whole queries, and the server allows each client {quota}");
            let mend = "ask about fewer keys at a time, or ask whoever runs the server for a larger quota";
            return Err(Failure { told: Some(OVER_QUOTA), ..Failure::new(code::REFUSED, fault, mend) });
        }
        if let (Some(left), Some(quota)) = (quota_left.filter(|&left| items > left), &described.quota) {
            let fault = format!(
                "{taken} in whole queries, and of this client's quota of {quota} only {} left; nothing was asked",
                counted(left, "is", "are")
            );
            let period = quota.parse().map_or("period", |quota: Quota| quota.period.name());
            let mend = format!("ask again in the next {period} of UTC, or about fewer keys");
            return Err(Failure { told: Some(OVER_QUOTA), ..Failure::new(code::REFUSED, fault, mend) });
        }
        let most = described.check()?;
        if queries > most {
            let fault =
                format!("{} {queries} queries, more than the {most} of one enrolment", of_keys("takes", "take"));
            return refuse(fault, "ask about fewer keys at a time, or join the two tables with `vesica receive`");
        }
        let payloads = keys.saturating_mul(described.payload.as_ref().map_or(0, |schema| schema.width as u64));
        let enrolment = described.enrolment_bytes()?;
        let Some(left) = Budget::now(self.config.memory).map(|budget| budget.left) else { return Ok(()) };
        if enrolment > left {
            let fault =
                format!("what the server sends once takes up to {}, and {} are left", Bytes(enrolment), Bytes(left));
            return refuse(fault, "allow more with --memory, or ask whoever runs the server for another protocol");
        }
        if payloads > left {
            let fault = format!(
                "the server's columns for {} take up to {}, and {} are left",
                counted(keys, "key", "keys"),
                Bytes(payloads),
                Bytes(left)
            );
            return refuse(fault, "ask about fewer keys at a time, or allow more with --memory");
        }
        Ok(())
    }
}
