//! The partners that one side knows: a name for each, with its public key and address.

use toml::de::{DeTable, DeValue};

use super::setting::{Setting, Value};
use crate::toml_text::{at_line, fault, line_of};

/// Longest name of a partner, in bytes.
const MOST_NAME: usize = 64;

/// A file of partners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peers {
    /// In the order of the file.
    pub partners: Vec<Partner>,
    /// The file that lists the keys which nobody may use any more.
    pub revoked: Option<String>,
}

/// A partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partner {
    /// What this side calls it.
    pub name: String,
    /// The line of its table, from 1.
    pub line: usize,
    /// Its public key: the line, or the name of a `.pub` file.
    pub key: String,
    /// Where it listens, if it does.
    pub address: Option<String>,
    /// The tasks that may be run with it; `None` for all.
    pub tasks: Option<Setting>,
    /// What else may be done with it.
    pub policy: Option<Rules>,
    /// The public key of who must have signed the file of the rules: the line, or the name of a `.pub` file.
    pub policy_signer: Option<String>,
    /// Settings for runs with it, where nothing else says them.
    pub defaults: Vec<Setting>,
}

/// Where the rules for a partner are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// In the table `policy` of the partner's.
    Here(Vec<Setting>),
    /// In a file of their own.
    File(String),
}

/// The settings of a file that has nothing else.
///
/// # Errors
/// The line, and what is wrong there.
pub fn settings(text: &str) -> Result<Vec<Setting>, String> {
    let table = DeTable::parse(text).map_err(|error| fault(text, &error))?;
    Setting::read_all(text, table.get_ref())
}

/// Whether a partner can have this name: letters, digits, `-` and `_`, so that no name of a `.pub`
/// file and no line of a key looks like one.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= MOST_NAME && text.chars().all(fits) && !text.starts_with('-')
}

impl Peers {
    /// Reads a file of partners.
    ///
    /// # Errors
    /// The line, and what is wrong there.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table = DeTable::parse(text).map_err(|error| fault(text, &error))?;
        let (mut partners, mut revoked) = (Vec::new(), None);
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            if let ("revoked", DeValue::String(file)) = (name.get_ref().as_ref(), value.get_ref()) {
                revoked = Some(file.to_string());
                continue;
            }
            let DeValue::Table(entries) = value.get_ref() else {
                let fault = "a setting stands outside of a partner's table: write for example [acme] above it";
                return Err(at_line(text, &name.span(), fault));
            };
            if !is_name(name.get_ref()) {
                let fault = format_args!(
                    "{:?} is no name for a partner: use up to {MOST_NAME} letters, digits, `-` and `_`",
                    name.get_ref()
                );
                return Err(at_line(text, &name.span(), fault));
            }
            partners.push(Partner::read(text, name.get_ref(), line_of(text, &name.span()), entries)?);
        }
        Ok(Self { partners, revoked })
    }

    /// The partner of this name.
    pub fn find(&self, name: &str) -> Option<&Partner> {
        self.partners.iter().find(|partner| partner.name == name)
    }
}

impl Partner {
    fn read(text: &str, name: &str, line: usize, entries: &DeTable<'_>) -> Result<Self, String> {
        let mut partner = Self {
            name: name.into(),
            line,
            key: String::new(),
            address: None,
            tasks: None,
            policy: None,
            policy_signer: None,
            defaults: Vec::new(),
        };
        for (key, value) in entries {
            if let ("defaults", DeValue::Table(defaults)) = (key.get_ref().as_ref(), value.get_ref()) {
                partner.defaults = Setting::read_all(text, defaults)?;
                continue;
            }
            if let ("policy", DeValue::Table(rules)) = (key.get_ref().as_ref(), value.get_ref()) {
                partner.policy = Some(Rules::Here(Setting::read_all(text, rules)?));
                continue;
            }
            let setting = Setting::read(text, key, value)?;
            let line = setting.line;
            if key.get_ref().as_ref() == "policy_signer"
                && entries.iter().any(|(key, _)| key.get_ref() == "policy-signer")
            {
                return Err(format!("line {line}: `policy-signer` is there a second time"));
            }
            match (setting.key.as_str(), setting.value.clone()) {
                ("key", Value::Word(key)) => partner.key = key,
                ("address", Value::Word(address)) => partner.address = Some(address),
                ("policy", Value::Word(file)) => partner.policy = Some(Rules::File(file)),
                ("policy-signer", Value::Word(key)) => partner.policy_signer = Some(key),
                ("tasks", Value::List(_) | Value::Word(_)) => partner.tasks = Some(setting),
                ("policy", value) => {
                    return Err(format!(
                        "line {line}: `policy` is {}, and must be a table, [{name}.policy], or the name of a file",
                        value.kind()
                    ));
                }
                ("key" | "address" | "policy-signer", value) => {
                    return Err(format!("line {line}: `{}` is {}, and must be a string", setting.key, value.kind()));
                }
                ("tasks", value) => {
                    return Err(format!("line {line}: `tasks` is {}, and must be an array of names", value.kind()));
                }
                ("defaults", _) => return Err(format!("line {line}: `defaults` must be a table: [{name}.defaults]")),
                (unknown, _) => {
                    return Err(format!(
                        "line {line}: a partner has no `{unknown}`: it has key, address, tasks, policy, policy-signer, and \
                         settings in [{name}.defaults]"
                    ));
                }
            }
        }
        if partner.key.is_empty() {
            return Err(format!("line {line}: the partner {name} has no public key: write key = \"...\" in its table"));
        }
        if partner.policy_signer.is_some() && !matches!(partner.policy, Some(Rules::File(_))) {
            return Err(format!(
                "line {line}: the partner {name} has a policy-signer, which is for rules in a file of their own: write \
                 policy = \"FILE\""
            ));
        }
        Ok(partner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "\
[acme]
key = \"vesica-ed25519 AAAA acme\"
address = \"acme.example:7400\"
tasks = [\"intersect\", \"sum\"]

[acme.defaults]
wait = \"10m\"

[acme.policy]
runs = \"2 per 1d\"

[bank_2]
key = \"keys/bank.pub\"
policy = \"bank.toml\"
policy_signer = \"owner.pub\"
";

    #[test]
    fn partners_have_names_keys_and_defaults() {
        let peers = Peers::parse(SMALL).expect("partners");
        let acme = peers.find("acme").expect("a partner");
        assert_eq!((acme.line, acme.address.as_deref()), (1, Some("acme.example:7400")));
        let tasks = Value::List(vec!["intersect".into(), "sum".into()]);
        assert_eq!(acme.tasks, Some(Setting { key: "tasks".into(), value: tasks, line: 4 }));
        assert_eq!(
            acme.policy,
            Some(Rules::Here(vec![Setting { key: "runs".into(), value: Value::Word("2 per 1d".into()), line: 10 }]))
        );
        assert_eq!(acme.defaults, [Setting { key: "wait".into(), value: Value::Word("10m".into()), line: 7 }]);
        let bank = peers.find("bank_2").expect("a partner");
        assert_eq!((bank.key.as_str(), bank.line, &bank.tasks), ("keys/bank.pub", 12, &None));
        assert_eq!(bank.policy, Some(Rules::File("bank.toml".into())));
        assert_eq!(bank.policy_signer.as_deref(), Some("owner.pub"));
        assert!(peers.find("ACME").is_none() && Peers::parse("") == Ok(Peers::default()));
    }

    #[test]
    fn the_list_of_revoked_keys_stands_above_the_partners() {
        let peers = Peers::parse(&format!("revoked = \"revoked.txt\"\n{SMALL}")).expect("partners");
        assert_eq!((peers.revoked.as_deref(), peers.partners.len()), (Some("revoked.txt"), 2));
        let told = Peers::parse("revoked = [\"a\"]\n").expect_err("no list");
        assert!(told.starts_with("line 1: a setting stands outside"), "{told}");
        assert!(Peers::parse("[revoked]\nkey = \"a.pub\"\n").expect("a partner").find("revoked").is_some());
    }

    #[test]
    fn mistakes_name_their_line() {
        for (from, to, told) in [
            ("[acme]\n", "", "line 1: a setting stands outside"),
            ("[bank_2]", "[\"a bank\"]", "line 12: \"a bank\" is no name"),
            ("[bank_2]", "[\"bank.pub\"]", "line 12: \"bank.pub\" is no name"),
            ("key = \"keys/bank.pub\"", "", "line 12: the partner bank_2 has no public key"),
            ("key = \"keys/bank.pub\"", "key = true", "line 13: `key` is true or false"),
            ("[acme.defaults]\nwait = \"10m\"", "defaults = 1", "line 6: `defaults` must be a table"),
            ("tasks = [\"intersect\", \"sum\"]", "tasks = true", "line 4: `tasks` is true or false"),
            ("address", "adress", "line 3: a partner has no `adress`"),
            ("[bank_2]", "[acme]", "line 12: "),
            (
                "[acme.defaults]\nwait = \"10m\"\n\n[acme.policy]\nruns = \"2 per 1d\"",
                "policy = true",
                "line 6: `policy` is true or false",
            ),
            ("policy = \"bank.toml\"", "", "line 12: the partner bank_2 has a policy-signer"),
            ("policy_signer = \"owner.pub\"", "policy_signer = true", "line 15: `policy-signer` is true"),
        ] {
            let text = SMALL.replacen(from, to, 1);
            assert_ne!(text, SMALL);
            let fault = Peers::parse(&text).expect_err(to);
            assert!(fault.starts_with(told), "{to}: {fault}");
        }
    }

    #[test]
    fn no_file_and_no_line_of_a_key_is_a_name() {
        assert!(["acme", "Bank_2", "a-b"].into_iter().all(is_name));
        for text in ["", "a.pub", "keys/a", "vesica-ed25519 AAAA", "-a", "ä", &"a".repeat(65)] {
            assert!(!is_name(text), "{text}");
        }
    }
}
