//! What the tests of services share: sets and queries, both halves of a conversation, and tests that
//! every service passes.

use vesica_party::service::{
    Client, ClientIdentity, Query, Server, Service, Standing, State, StateError, read_state, write_state,
};
use vesica_party::{Abort, Channel, Security, Task};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{try_two_party, two_party};

use vesica_protocols::tasks::{
    Intersect, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest, IntersectSenderInput,
    IntersectSenderOutput,
};

/// Width of a payload of [`set`].
pub const WIDTH: usize = 3;

pub fn request(set_items: usize, query_items: usize, security: Security) -> IntersectRequest {
    IntersectRequest {
        sender_items: set_items,
        receiver_items: query_items,
        security,
        payload_bytes: WIDTH,
        both_learn: false,
        runs: 1,
    }
}

/// Items from `first` on, with payloads of their own.
pub fn set(first: u128, count: usize) -> IntersectSenderInput {
    let items: Vec<u128> = (first..first + count as u128).collect();
    let payloads = items.iter().flat_map(|&item| [item as u8, (item >> 8) as u8, 0xa5]).collect();
    IntersectSenderInput { items, payloads }
}

pub fn prepared<V: Server<Set = IntersectSenderInput>>(params: &V::Params, set: &IntersectSenderInput) -> V {
    V::prepare(params, set.clone(), &mut SecretRng::from_os().unwrap()).unwrap()
}

pub fn query(items: &[u128]) -> IntersectReceiverInput {
    IntersectReceiverInput { items: items.to_vec() }
}

pub fn admit<V: Server>(
    server: &V,
    standing: Standing,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<V::Session, Abort> {
    server.admit(&ClientIdentity::Anonymous, standing, ch, rng)
}

/// The server's half of a query.
pub fn answer<V: Server>(
    server: &V,
    session: &mut V::Session,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let query = Query { client: ClientIdentity::Anonymous, number: 0 };
    server.answer(session, query, ch, rng).map(drop)
}

pub fn check(set: &IntersectSenderInput, items: &[u128], output: &IntersectReceiverOutput) {
    let nothing = IntersectSenderOutput { matches: None };
    Intersect::holds(set, &query(items), &nothing, output).unwrap_or_else(|wrong| panic!("{items:?}: {wrong}"));
}

pub fn bytes_of<S: State>(state: &S) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_state(state, &mut bytes).unwrap();
    bytes
}

pub fn read<S: State>(mut bytes: &[u8]) -> Result<S, StateError> {
    let length = bytes.len() as u64;
    read_state(&mut bytes, length, 1 << 28)
}

/// Four queries of three items, and the client after them; both sides go through files between
/// queries. The set's items begin with 1000.
pub fn many_queries_are_right<S>(params: &S::Params, set: &IntersectSenderInput) -> S::Client
where
    S: Service<Task = Intersect>,
    S::Server: State,
    S::Client: State,
{
    let last = set.items[set.items.len() - 1];
    let server: S::Server = prepared(params, set);
    let queries = [[1, 2, 3], [1000, last, last + 1], [1005, 999, last - 1], [1000, 1001, 1002]];
    let ((), client) = two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            let stored: S::Server = read(&bytes_of(&server)).unwrap();
            assert_eq!(stored.state_id(), server.state_id());
            queries.iter().try_for_each(|_| answer(&stored, &mut session, ch, rng))
        },
        |ch, rng| {
            let mut client = S::Client::enrol(params, ch, rng)?;
            for (number, items) in (0..).zip(&queries) {
                let output = client.query(number, query(items), ch, rng)?;
                check(set, items, &output);
                client = read(&bytes_of(&client)).unwrap();
            }
            Ok(client)
        },
    );
    client
}

/// A client of one set moves over to another one, and asks on; `others` are parameters other than
/// those that it was enrolled with. Sets of 10 items, queries of 2.
pub fn clients_move_over_to_a_replaced_set<S: Service<Task = Intersect>>(
    params: &S::Params,
    others: &S::Params,
    with_payloads: bool,
) {
    let of = |first| {
        let set = set(first, 10);
        if with_payloads { set } else { IntersectSenderInput { payloads: Vec::new(), ..set } }
    };
    let (old, new) = (of(0), of(5));
    let before: S::Server = prepared(params, &old);
    let after: S::Server = prepared(params, &new);
    assert_ne!(before.state_id(), after.state_id());
    two_party(
        |ch, rng| {
            let mut session = admit(&before, Standing::New, ch, rng)?;
            answer(&before, &mut session, ch, rng)?;
            let mut session = admit(&after, Standing::Outdated(before.state_id()), ch, rng)?;
            answer(&after, &mut session, ch, rng)?;
            let mut session = admit(&after, Standing::Current, ch, rng)?;
            answer(&after, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = S::Client::enrol(params, ch, rng)?;
            check(&old, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            client.rejoin(params, Standing::Outdated(before.state_id()), ch, rng)?;
            check(&new, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            client.rejoin(params, Standing::Current, ch, rng)?;
            assert!(client.rejoin(others, Standing::Current, ch, rng).is_err(), "other parameters");
            check(&new, &[5, 4], &client.query(0, query(&[5, 4]), ch, rng)?);
            Ok(())
        },
    );
}

/// After its last query, a client refuses the next one before anything leaves. Queries of one item;
/// `exhaust` brings a new client to its last query.
pub fn the_last_query_is_the_last<S: Service<Task = Intersect>>(
    params: &S::Params,
    set: &IntersectSenderInput,
    exhaust: impl Fn(&mut S::Client) + Sync,
) -> Abort {
    let server: S::Server = prepared(params, set);
    let (_, client) = try_two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            answer(&server, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = S::Client::enrol(params, ch, rng)?;
            exhaust(&mut client);
            check(set, &[3], &client.query(0, query(&[3]), ch, rng)?);
            let sent = ch.tally().total().sent_payload;
            let refused = client.query(1, query(&[3]), ch, rng).map(drop);
            Ok((refused, ch.tally().total().sent_payload - sent))
        },
    );
    let (refused, sent) = client.result.unwrap();
    assert_eq!(sent, 0);
    refused.unwrap_err()
}

pub fn a_set_with_an_item_twice_is_refused<V: Server<Set = IntersectSenderInput>>(params: &V::Params) {
    let mut set = set(0, 5);
    set.items[4] = set.items[1];
    let refused = V::prepare(params, set, &mut SecretRng::insecure_from_seed(1)).err().unwrap();
    assert!(refused.to_string().contains("twice"), "{refused}");
}
