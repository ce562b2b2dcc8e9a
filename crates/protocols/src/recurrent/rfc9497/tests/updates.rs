//! Updates of a set: what clients get, and what they refuse.

use std::sync::Arc;

use vesica_party::service::{Moved, StateId};
use vesica_testkit::two_party;

use super::super::messages::{Change, Head, Verdict};
use super::super::update::{HEAD_BYTES, KEPT_PART, MOST_COMPOSED, MOST_STEPS};
use super::*;
use crate::recurrent::testing::check;
use crate::tasks::IntersectSenderInput;

const ITEMS: usize = 800;

/// A set and the changes of its items, kept in the clear.
struct Model {
    set: IntersectSenderInput,
    server: Server,
    rng: SecretRng,
}

impl Model {
    fn new(params: &Params) -> Self {
        let set = set(1000, ITEMS);
        Self { server: prepared(params, &set), set, rng: SecretRng::insecure_from_seed(9) }
    }

    /// Replaces the item of the first number by the other one, whose payload is three times `label`.
    fn replace(&mut self, changes: &[(u128, u128, u8)]) {
        let (mut removed, mut added) = (IntersectSenderInput::default(), IntersectSenderInput::default());
        for &(old, new, label) in changes {
            let place = self.set.items.iter().position(|&item| item == old).expect("an item of the set");
            self.set.items[place] = new;
            self.set.payloads[3 * place..3 * place + 3].fill(label);
            removed.items.push(old);
            added.items.push(new);
            added.payloads.extend([label; 3]);
        }
        self.server = self.server.update(removed, added, &mut self.rng).unwrap().expect("updatable");
    }
}

fn enrolled(params: &Params, server: &Server) -> Client {
    two_party(|ch, rng| admit(server, Standing::New, ch, rng), |ch, rng| Client::enrol(params, ch, rng)).1
}

/// The client after it has joined the model's set, having been at `known`; bytes that it received.
fn rejoined(model: &Model, client: Client, known: StateId) -> (Client, u64) {
    let params = *model.server.params();
    let standing = Standing::Outdated(known);
    let (_, joined) = two_party(
        |ch, rng| admit(&model.server, standing, ch, rng),
        |ch, rng| {
            let mut client = client;
            client.rejoin(&params, standing, ch, rng)?;
            Ok((client, ch.tally().total().received()))
        },
    );
    joined
}

fn asks(model: &Model, client: Client, items: &[u128]) -> Client {
    let (_, client) = two_party(
        |ch, rng| answer(&model.server, ch, rng),
        |ch, rng| {
            let mut client = client;
            check(&model.set, items, &client.query(0, query(items), ch, rng)?);
            Ok(client)
        },
    );
    client
}

#[test]
fn clients_of_any_kept_version_get_one_change_and_answers_stay_right() {
    for security in MODES {
        let mut model = Model::new(&params(ITEMS, 4, security));
        let params = *model.server.params();
        let first = model.server.state_id();
        let everything = *params.enrolment_bytes().start();
        let old: Vec<u8> = bytes_of(&enrolled(&params, &model.server));
        model.replace(&[(1000, 5000, 1), (1001, 5001, 2), (1002, 1002, 3)]);
        let second = model.server.state_id();
        let (mut newer, _) = rejoined(&model, read(&old).unwrap(), first);
        assert_eq!((newer.moved(), newer.version), (Moved::Updated, 1));
        newer = asks(&model, newer, &[1000, 5000, 1002, 1799]);
        // 5000 goes again, 1001 comes back, and 1002 changes a second time.
        model.replace(&[(5000, 1000, 4), (5001, 1001, 5), (1002, 1002, 6)]);
        // Through files on both sides.
        model.server = read(&bytes_of(&model.server)).unwrap();
        for (client, known, asked) in [(read(&old).unwrap(), first, 0), (newer, second, 1)] {
            let (client, received) = rejoined(&model, client, known);
            assert_eq!((client.moved(), client.version, client.asked), (Moved::Updated, 2, asked));
            assert!(received * 10 < everything, "{received} bytes, and {everything} for everything");
            let client: Client = read(&bytes_of(&client)).unwrap();
            asks(&model, client, &[1000, 5000, 1002, 1001]);
        }
    }
}

#[test]
fn no_two_payloads_of_an_item_have_one_keystream() {
    let mut model = Model::new(&params(ITEMS, 4, Security::Malicious));
    let first = model.server.state_id();
    let before = model.set.payloads[6..9].to_vec();
    let old = bytes_of(&model.server);
    model.replace(&[(1002, 1002, 0x77)]);
    let cells = |server: &Server| {
        let (all, _) = server.history.since(first, &server.params.shape()).expect("kept");
        all.cells
    };
    let first_change = cells(&model.server);
    // The same change from a copy of the old state: what a server does that was restored from it.
    model.server = read(&old).unwrap();
    model.rng = SecretRng::insecure_from_seed(10);
    model.replace(&[(1002, 1002, 0x77)]);
    let second_change = cells(&model.server);
    assert_eq!(first_change.len(), 12 + 3);
    assert_ne!(first_change[12..], second_change[12..], "{before:?}");
}

#[test]
fn what_is_too_old_or_too_much_is_fetched_whole_and_queries_still_count() {
    let params = params(ITEMS, 4, Security::SemiHonest);
    let mut model = Model::new(&params);
    let first = model.server.state_id();
    let mut client = enrolled(&params, &model.server);
    client.asked = 77;
    let much: Vec<_> = (0..ITEMS / KEPT_PART + 1).map(|i| (1000 + i as u128, 7000 + i as u128, 1)).collect();
    model.replace(&much);
    let (client, _) = rejoined(&model, client, first);
    assert_eq!((client.moved(), client.version, client.asked), (Moved::Anew, 1, 77));
    let (known, client) = (model.server.state_id(), bytes_of(&client));
    for step in 0..MOST_STEPS as u128 {
        model.replace(&[(1799 - step % 2, 1799 - step % 2, step as u8)]);
    }
    let (updated, _) = rejoined(&model, read(&client).unwrap(), known);
    assert_eq!(updated.moved(), Moved::Updated);
    asks(&model, updated, &[1799, 1798, 7000, 1]);
    model.replace(&[(1799, 1799, 0)]);
    let (fetched, _) = rejoined(&model, read(&client).unwrap(), known);
    assert_eq!((fetched.moved(), fetched.version), (Moved::Anew, MOST_STEPS as u64 + 2));
    asks(&model, fetched, &[1799, 1798, 7000, 1]);
}

/// Composing takes far more work than sending, and depends on the versions alone.
#[test]
fn a_change_is_composed_once_for_all_who_come_from_one_version() {
    let params = params(ITEMS, 4, Security::SemiHonest);
    let mut model = Model::new(&params);
    let shape = params.shape();
    let mut known = Vec::new();
    for step in 0..MOST_COMPOSED as u128 + 1 {
        known.push(model.server.state_id());
        model.replace(&[(1000 + step, 5000 + step, 1)]);
    }
    let composed = |known| model.server.history.composed(known, &shape).expect("kept");
    let first = composed(known[0]);
    assert!(Arc::ptr_eq(&first, &composed(known[0])), "the same one");
    let all: Vec<_> = known.iter().map(|&known| composed(known)).collect();
    assert!(Arc::ptr_eq(&all[1], &composed(known[1])), "one of the latest");
    let again = composed(known[0]);
    assert!(!Arc::ptr_eq(&first, &again), "no more of them than a few");
    assert_eq!((&first.bytes, first.count, first.steps), (&again.bytes, again.count, again.steps));
    assert!(model.server.history.composed(model.server.state_id(), &shape).is_none());
    let everybody: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn({
                let (known, server) = (known[4], read::<Server>(&bytes_of(&model.server)).unwrap());
                move || server.history.composed(known, &server.params.shape()).expect("kept").bytes.len()
            })
        })
        .collect();
    assert!(everybody.into_iter().all(|client| client.join().unwrap() == all[4].bytes.len()));
}

/// A set of which most has changed is prepared anew under its key: clients fetch all of it, and go on.
#[test]
fn a_renewed_set_has_its_key_and_its_next_version_and_no_keystream_twice() {
    for security in MODES {
        let params = params(ITEMS, 4, security);
        let mut model = Model::new(&params);
        let first = model.server.state_id();
        let mut client = enrolled(&params, &model.server);
        client.asked = 77;
        let before = bytes_of(&client);
        let key = *model.server.key.public();
        model.set = set(1300, ITEMS);
        model.set.payloads.fill(9);
        model.server = model.server.renew(model.set.clone(), &mut model.rng).unwrap().expect("renewable");
        assert_eq!(*model.server.key.public(), key);
        // Through a file, as a server that starts again.
        model.server = read(&bytes_of(&model.server)).unwrap();
        let (client, _) = rejoined(&model, client, first);
        assert_eq!((client.moved(), client.version, client.asked), (Moved::Anew, 1, 77));
        assert_ne!(bytes_of(&client), before);
        let client = asks(&model, client, &[1000, 1300, 2099, 2100]);
        let known = model.server.state_id();
        model.replace(&[(1300, 5000, 1)]);
        let (client, _) = rejoined(&model, client, known);
        assert_eq!((client.moved(), client.version), (Moved::Updated, 2));
        asks(&model, client, &[1300, 5000, 1301, 1]);
    }
}

#[test]
fn a_server_that_goes_back_to_an_older_state_is_noticed() {
    let params = params(ITEMS, 4, Security::SemiHonest);
    let mut model = Model::new(&params);
    let (first, old) = (model.server.state_id(), bytes_of(&model.server));
    let client = enrolled(&params, &model.server);
    model.replace(&[(1000, 5000, 1)]);
    model.replace(&[(1001, 5001, 1)]);
    let (client, _) = rejoined(&model, client, first);
    let newest = model.server.state_id();
    let client = bytes_of(&client);
    // The old state, and another change than the first time: as old as the client, and another set.
    model.server = read(&old).unwrap();
    model.set = set(1000, ITEMS);
    let (back, _) = rejoined(&model, read(&client).unwrap(), newest);
    assert_eq!((back.moved(), back.version), (Moved::SetBack { from: 2, to: 0 }, 0));
    model.replace(&[(1002, 6000, 1)]);
    model.replace(&[(1003, 6001, 1)]);
    let (back, _) = rejoined(&model, read(&client).unwrap(), newest);
    assert_eq!((back.moved(), back.version), (Moved::SetBack { from: 2, to: 2 }, 2));
    asks(&model, back, &[1000, 6000, 5000, 1003]);
}

/// A client that hears these bytes of arrows 8 and 9, with the session of its own; and then, if it
/// asks for it, everything.
fn hears(server: &Server, client: &[u8], session: u8, head: &[u8], change: &[u8]) -> Result<(Client, Vec<u8>), Abort> {
    let params = *server.params();
    let (sent, heard) = try_two_party(
        |ch, rng| {
            ch.send_stream::<Head>(head)?;
            ch.send_stream::<Change>(change)?;
            let mut verdict = vec![0];
            ch.recv_stream::<Verdict>(&mut verdict)?;
            if verdict == [2] {
                admit(server, Standing::New, ch, rng)?;
            }
            Ok(verdict)
        },
        |ch, rng| {
            ch.bind_session([session; 32]);
            let mut client: Client = read(client).unwrap();
            client.rejoin(&params, Standing::Outdated(server.state_id()), ch, rng)?;
            Ok(client)
        },
    );
    heard.result.map(|client| (client, sent.result.unwrap_or_default()))
}

/// Arrows 8 and 9 as the server sends them in a session.
fn recorded(server: &Server, known: StateId, session: u8) -> (Vec<u8>, Vec<u8>) {
    let standing = Standing::Outdated(known);
    let length = server.history.since(known, &server.params.shape()).expect("kept").0.to_bytes(&server.params.shape());
    let (_, heard) = two_party(
        |ch, rng| {
            ch.bind_session([session; 32]);
            admit(server, standing, ch, rng)
        },
        |ch, _| {
            let (mut head, mut change) = (vec![0; HEAD_BYTES], vec![0; length.len()]);
            ch.recv_stream::<Head>(&mut head)?;
            ch.recv_stream::<Change>(&mut change)?;
            ch.send_stream::<Verdict>(&[1])?;
            Ok((head, change))
        },
    );
    heard
}

#[test]
fn forged_replayed_and_reordered_updates_are_refused() {
    let params = params(ITEMS, 4, Security::Malicious);
    let mut model = Model::new(&params);
    let first = model.server.state_id();
    let old = bytes_of(&enrolled(&params, &model.server));
    model.replace(&[(1000, 5000, 1), (1001, 5001, 2)]);
    let second = model.server.state_id();
    let newer = bytes_of(&rejoined(&model, read(&old).unwrap(), first).0);
    let (head, change) = recorded(&model.server, first, 1);

    // As it was sent it is taken.
    let taken = hears(&model.server, &old, 1, &head, &change).map(|(client, _)| client.moved());
    assert_eq!(taken.unwrap(), Moved::Updated);
    // One bit of each byte of what is signed, and of the signature.
    for place in 0..HEAD_BYTES {
        let mut forged = head.clone();
        forged[place] ^= 4;
        let refused = hears(&model.server, &old, 1, &forged, &change);
        assert!(matches!(refused, Err(Abort::PeerMisbehaved(Head::STEP, _))), "byte {place}: {refused:?}");
    }
    // In another conversation.
    let replayed = hears(&model.server, &old, 2, &head, &change).expect_err("refused").to_string();
    assert!(replayed.contains("not signed with the key"), "{replayed}");
    // A change that is not the signed one: everything is fetched.
    for place in (0..change.len()).step_by(3) {
        let mut forged = change.clone();
        forged[place] ^= 4;
        let (client, verdict) = hears(&model.server, &old, 1, &head, &forged).unwrap();
        assert!(matches!(client.moved(), Moved::Refused(_)) && verdict == [2], "byte {place}: {:?}", client.moved());
        assert_eq!(client.version, 1);
    }
    // One that begins with a version that the client does not have, honestly signed.
    let (client, _) = hears(&model.server, &newer, 1, &head, &change).unwrap();
    assert!(matches!(client.moved(), Moved::Refused(why) if why.contains("another version")), "{:?}", client.moved());
    model.replace(&[(1002, 5002, 3)]);
    let (head, change) = recorded(&model.server, second, 1);
    let (client, _) = hears(&model.server, &old, 1, &head, &change).unwrap();
    assert!(matches!(client.moved(), Moved::Refused(why) if why.contains("another version")), "{:?}", client.moved());
    asks(&model, client, &[1002, 5002, 5000, 1799]);
}

#[test]
fn a_set_is_not_updated_by_what_does_not_fit() {
    let params = params(ITEMS, 4, Security::SemiHonest);
    let mut model = Model::new(&params);
    let items = |items: &[u128]| IntersectSenderInput { items: items.to_vec(), payloads: vec![0; 3 * items.len()] };
    for (removed, added) in [(&[1u128][..], &[2u128][..]), (&[1000, 1001], &[2]), (&[1000, 1001], &[2, 2])] {
        assert!(model.server.update(items(removed), items(added), &mut model.rng).is_err(), "{removed:?} {added:?}");
    }
}
