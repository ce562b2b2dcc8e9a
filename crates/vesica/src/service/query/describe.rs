//! The first connection: what the server says of itself, and the items to ask it about.

use vesica_party::Channel;
use vesica_party::service::{depart, describe};
use vesica_party::transport::KeyExchange;
use vesica_party::transport::tls::PublicKey;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::{Context, Own};
use crate::failure::{Failure, code};
use crate::progress::{Gauge, Stage};
use crate::service::Description;
use crate::service::slow_hash::{self, Hashed, SlowHash, Terms};
use crate::table::{Source, TableError};
use crate::task::Columns;

/// What is asked, and of whom.
pub(super) struct Inquiry {
    pub own: Own,
    /// What the server said first.
    pub description: Description,
    pub questions: Questions,
    /// How the keys of the first TLS session came about; `None` without TLS.
    pub key_exchange: Option<KeyExchange>,
    /// The key that the server has proved to hold in it; `None` without TLS.
    pub server_key: Option<PublicKey>,
    pub warnings: Vec<String>,
}

/// The items to ask about, and what is asked beside them.
pub(super) struct Questions {
    /// Items under the server's salt, in a random order: where the server sees something of each item, it shall not see
    /// which keys stand near each other in the table.
    items: Vec<u128>,
    /// The key of each item.
    pub order: Secret<Vec<u32>>,
    /// What fills up the last query.
    dummies: Vec<u128>,
    items_per_query: usize,
}

impl Questions {
    fn new(items: &[u128], description: &Description, rng: &mut SecretRng) -> Self {
        let order = Secret::new(random_order(items.len(), rng));
        let items: Vec<u128> = order.iter().filter_map(|&key| items.get(key as usize).copied()).collect();
        let items_per_query = description.items_per_query as usize;
        // The same ones if a query is repeated: a server that sees something of items could otherwise tell
        // them from dummies. Equal to an item of either side with a probability below 2^-128 times their number,
        // unless items are integers: then each is as likely, and what it comes to is forgotten.
        let shift = description.integer_bits.map_or(0, |bits| u128::BITS.saturating_sub(bits));
        let free = items.len().next_multiple_of(items_per_query) - items.len();
        let dummies = std::iter::repeat_with(|| rng.block().unbounded_shr(shift)).take(free).collect();
        Self { items, order, dummies, items_per_query }
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// How many queries they take.
    pub fn queries(&self) -> usize {
        self.items.len().div_ceil(self.items_per_query)
    }

    /// The place of the first item of a query, how many of its items are no dummies, and all of its items.
    pub fn query(&self, number: usize) -> Option<(usize, usize, Vec<u128>)> {
        let own = self.items.chunks(self.items_per_query).nth(number)?;
        let dummies = &self.dummies[..self.items_per_query - own.len()];
        Some((number * self.items_per_query, own.len(), [own, dummies].concat()))
    }
}

/// A server that has said what it is, and waits.
pub(super) struct Described {
    inquiry: Inquiry,
    ch: Channel,
}

/// A client that has the items which the server compares.
pub(super) struct Unasked {
    pub inquiry: Inquiry,
    /// The first connection, if it goes on.
    pub ch: Option<Channel>,
}

impl Own {
    /// Connects for the first time, and makes the items to ask about.
    pub fn describe(mut self, ctx: &Context<'_>) -> Result<Described, Failure> {
        let connection = ctx.reach()?;
        match ctx.open(connection, |ch| self.hear(ctx, ch)) {
            Ok((ch, (description, questions, warnings))) => {
                let key_exchange = ch.key_exchange();
                let server_key = ch.authenticated_peer().map(|peer| peer.key);
                let inquiry = Inquiry { own: self, description, questions, key_exchange, server_key, warnings };
                Ok(Described { inquiry, ch })
            }
            Err(failure) => {
                ctx.let_go();
                Err(ctx.interrupt.reason().unwrap_or(failure))
            }
        }
    }

    fn hear(&mut self, ctx: &Context<'_>, ch: &mut Channel) -> Result<(Description, Questions, Vec<String>), Failure> {
        let (description, quota_left) = heard(ch)?;
        ctx.log.look_up(description.look_up(quota_left));
        let keys = self.table.digests.len();
        let mut warnings = ctx.check(&description, quota_left, &self.table.stats, keys as u64)?;
        warnings.extend(self.count(ctx)?);
        let Self { source, table, rng, .. } = self;
        let salt = description
            .salt_number()
            .ok_or_else(|| Failure::new(code::PEER_MISBEHAVED, "the server's salt is malformed", "do not trust it"))?;
        let digests = std::mem::take(&mut table.digests);
        let items = match description.integer_bits {
            Some(bits) => ctx.integers(&**source, bits, keys)?,
            None => digests.fold(salt),
        };
        let questions = Questions::new(&items, &description, rng);
        Ok((description, questions, warnings))
    }
}

/// What the server says of itself, and how much is left of this client's quota.
fn heard(ch: &mut Channel) -> Result<(Description, Option<u64>), Failure> {
    let mut described = Description::from_bytes(&describe(ch)?)?;
    let quota_left = described.quota_left.take();
    Ok((described, quota_left))
}

impl Inquiry {
    /// Refuses a server that is another one than it was.
    pub fn hear_again(&self, ch: &mut Channel) -> Result<(), Failure> {
        if heard(ch)?.0 == self.description {
            return Ok(());
        }
        Err(Failure::new(code::MISMATCH, "the server came back with another description of its table", "ask again"))
    }
}

impl Described {
    /// Puts the server's slow hash of each item in its place, if it wants that. The client leaves before it hashes: no
    /// server waits for a client that computes for minutes.
    pub fn hash(self, ctx: &Context<'_>) -> Result<Unasked, Failure> {
        let Self { mut inquiry, ch } = self;
        let Inquiry { description, questions, warnings, .. } = &mut inquiry;
        let Some((slow, salt)) = description.slow_hash().zip(description.salt_number()) else {
            return Ok(Unasked { inquiry, ch: Some(ch) });
        };
        if let Err(abort) = depart(ch) {
            warnings.push(format!("the first connection did not close cleanly: {abort}"));
        }
        ctx.let_go();
        ctx.hash_slowly(slow, salt, &mut questions.items)?;
        Ok(Unasked { inquiry, ch: None })
    }
}

impl Context<'_> {
    fn hash_slowly(&self, slow: SlowHash, salt: u128, items: &mut [u128]) -> Result<(), Failure> {
        let deadline = self.deadline();
        let late = || deadline.and_then(|deadline| deadline.check("the keys were hashed").err());
        let told = |count, time| {
            self.watch.enter(Stage::Hashing(slow_hash::announcement(slow, count, time)), Gauge::Nothing);
        };
        let stop = || self.interrupt.reason().or_else(late);
        let terms = Terms { memory: self.config.memory, stop: &stop, keeper: None };
        slow.hash(salt, items, &mut Hashed::default(), terms, told)
    }

    /// The keys of the table as integers, in the order of its `keys` distinct digests.
    fn integers(&self, source: &dyn Source, bits: u32, keys: usize) -> Result<Vec<u128>, Failure> {
        self.watch.enter(Stage::ReadingIntegers, Gauge::pass(source));
        let table = Columns::Integers(bits).read(source, &self.config.source.key, None)?;
        let integers: Vec<u128> = table.integers.unwrap_or_default().into_iter().map(u128::from).collect();
        if integers.len() != keys {
            return Err(TableError::Changed { path: source.name().to_owned() }.into());
        }
        Ok(integers)
    }
}
