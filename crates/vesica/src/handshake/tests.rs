use vesica_party::{Abort, Reader, Role, Security};
use vesica_protocols::tasks::Extent;
use vesica_testkit::try_two_party;

use super::messages::{Body, Choice, Opening, Ready, Sizes, recv, send};
use super::salt::{Share, commit, salt};
use super::{Hello, Negotiation, TaskBytes, WIRE_VERSION, agree, compare_transcripts, settle};
use crate::failure::Failure;
use crate::key::{Form, Kind, Precision};
use crate::memory::Budget;
use crate::table::{Duplicates, PayloadSpec};
use crate::task::{self, AnyAgreed, AnyJob, Settings, Side};
use vesica_party::Writer;

/// The side that connects sends, the side that listens receives.
pub(super) fn hello(role: Role) -> Hello {
    Hello {
        role,
        task: "intersect".into(),
        security: Security::SemiHonest,
        post_quantum: false,
        protocols: vec!["ecdh-hfh99".into()],
        key_digest: "vesica-key@2".into(),
        key_columns: vec!["as it is".into()],
        or_keys: Vec::new(),
        buckets: 1,
        may_divide: false,
        resume: false,
        cluster: false,
        link: None,
        dry_run: false,
        clock: 1_700_000_000,
        policy: None,
        nonce: [role as u8; 32],
        salt_commitment: commit(role, &SHARE),
        proposal: job(role).proposal(),
    }
}

/// An intersection of keys alone.
fn job(role: Role) -> Box<dyn AnyJob> {
    let intersect = task::find("intersect").expect("the task");
    intersect
        .configure(&Side {
            role,
            settings: &Settings::default(),
            or_keys: false,
            buckets: 1,
            work: false,
            resume: false,
            output: None,
        })
        .expect("a configuration")
}

type Agreement = super::Agreement<Box<dyn AnyAgreed>>;

fn agree_on(ch: &mut vesica_party::Channel, ours: &Hello) -> Result<Hello, Abort> {
    agree(ch, ours, &*job(ours.role))
}

/// What either side opens.
const SHARE: Share = [9; 32];

fn sizes(items: u64) -> Sizes {
    let key_kinds = vec![Kind { form: Form::Text, precision: None }];
    Sizes { items, salt_share: SHARE, key_kinds, measure: br#"{"payload":null}"#.to_vec() }
}

fn settle_on(ch: &mut vesica_party::Channel, ours: &Hello, theirs: &Hello, sizes: Sizes) -> Result<Agreement, Failure> {
    settle_within(ch, ours, theirs, sizes, None)
}

fn settle_within(
    ch: &mut vesica_party::Channel,
    ours: &Hello,
    theirs: &Hello,
    sizes: Sizes,
    memory: Option<Budget>,
) -> Result<Agreement, Failure> {
    let task = &*job(ours.role);
    settle(ch, &Negotiation { task, ours, theirs, sizes, max_peer_items: 1000, memory, work: false })
}

fn code<T>(result: Result<T, Abort>) -> Option<u8> {
    result.err().map(|abort| abort.exit_code())
}

/// Plays a side that brings `sizes`, and takes what the other side has sent by then.
fn bring(ch: &mut vesica_party::Channel, sizes: Sizes) -> Result<(), Abort> {
    send(ch, sizes)?;
    recv::<Sizes>(ch).map(drop)
}

/// An honest receiver that settles with a sender that the test plays.
fn receiver_against(
    theirs: Hello,
    sender: impl FnOnce(&mut vesica_party::Channel) -> Result<(), Abort> + Send,
) -> Result<Agreement, Abort> {
    let ours = hello(Role::Receiver);
    let (_, received) =
        try_two_party(|ch, _| sender(ch), |ch, _| settle_on(ch, &ours, &theirs, sizes(10)).map_err(Abort::from));
    received.result
}

#[test]
fn honest_sides_come_to_one_session_which_their_nonces_change() {
    let run = |nonce| {
        let (ours, mut theirs) = (hello(Role::Sender), hello(Role::Receiver));
        theirs.nonce = [nonce; 32];
        let (sent, received) = try_two_party(
            |ch, _| {
                let peer = agree_on(ch, &ours)?;
                let agreement = settle_on(ch, &ours, &peer, sizes(20))?;
                Ok((agreement.session, ch.session()))
            },
            |ch, _| {
                let peer = agree_on(ch, &theirs)?;
                let agreement = settle_on(ch, &theirs, &peer, sizes(30))?;
                Ok((agreement.session, ch.session()))
            },
        );
        let (sent, received) = (sent.result.expect("agreed"), received.result.expect("agreed"));
        assert_eq!(sent, received);
        assert_eq!(sent.0, sent.1, "the channel is bound to the session");
        sent.0
    };
    assert_ne!(run(7), run(8));
}

/// An honest receiver that settles with a sender that committed to `promised` and opens `opened`.
fn opened(promised: [u8; 32], opened: Share) -> Result<Agreement, Abort> {
    let theirs = Hello { salt_commitment: promised, ..hello(Role::Sender) };
    receiver_against(theirs, |ch| {
        bring(ch, Sizes { salt_share: opened, ..sizes(5) })?;
        let choice: Choice = recv(ch)?;
        assert_eq!(choice.protocol, "ecdh-hfh99", "nothing else was agreed");
        let Ready { session } = recv(ch)?;
        send(ch, Ready { session })
    })
}

#[test]
fn a_share_of_the_salt_that_was_not_committed_to_is_refused() {
    opened(commit(Role::Sender, &[3; 32]), [3; 32]).map(drop).expect("the share that was committed to");
    // Another share, and ours under our own commitment, as a partner opens that sends back what it got.
    for (promised, share) in [(commit(Role::Sender, &[3; 32]), [4; 32]), (commit(Role::Receiver, &SHARE), SHARE)] {
        let abort = opened(promised, share).err().expect("refused");
        assert_eq!(abort.exit_code(), 8);
        assert!(
            abort.to_string().contains("its share of the session's salt is not the one that it committed to"),
            "{abort}"
        );
    }
}

/// Both sides come to one salt, which either share changes, and in which they do not cancel out.
#[test]
fn either_share_changes_the_salt() {
    let run = |of_sender: u8, of_receiver: u8| {
        let side = |role: Role, share: u8| {
            let ours = Hello { salt_commitment: commit(role, &[share; 32]), ..hello(role) };
            move |ch: &mut vesica_party::Channel| {
                let peer = agree_on(ch, &ours)?;
                let agreement = settle_on(ch, &ours, &peer, Sizes { salt_share: [share; 32], ..sizes(20) })?;
                Ok((agreement.salt, agreement.session))
            }
        };
        let (of_sender, of_receiver) = (side(Role::Sender, of_sender), side(Role::Receiver, of_receiver));
        let (sent, received) = try_two_party(move |ch, _| of_sender(ch), move |ch, _| of_receiver(ch));
        let (sent, received) = (sent.result.expect("agreed"), received.result.expect("agreed"));
        assert_eq!(sent, received);
        sent
    };
    let all = [run(1, 2), run(1, 3), run(3, 2), run(2, 1), run(5, 5), run(6, 6)];
    for (i, one) in all.iter().enumerate() {
        for other in &all[..i] {
            assert!(one.0 != other.0 && one.1 != other.1);
        }
    }
    assert_eq!(all[0].0, salt(&[1; 32], &[2; 32]));
}

#[test]
fn another_wire_version_is_named_before_its_configuration_is_read() {
    let ours = hello(Role::Receiver);
    let newer = |ch: &mut vesica_party::Channel| {
        send(ch, Opening { wire_version: WIRE_VERSION + 1 })?;
        recv::<Opening>(ch)?;
        recv::<Hello>(ch).map(drop)
    };
    let (_, received) = try_two_party(|ch, _| newer(ch), |ch, _| agree_on(ch, &ours));
    let abort = received.result.expect_err("another version");
    assert_eq!(abort.exit_code(), 7);
    let versions = format!("wire version {WIRE_VERSION}, the partner speaks {}", WIRE_VERSION + 1);
    assert!(abort.to_string().contains(&versions), "{abort}");
}

/// The receiver dates the receipt, and has no other message to do so: its date is the clock that
/// the sender compares with its own.
#[test]
fn the_sender_signs_no_date_that_is_far_from_its_own() {
    let both = |clock| {
        let (ours, theirs) = (hello(Role::Sender), Hello { clock, ..hello(Role::Receiver) });
        let (sent, received) = try_two_party(
            |ch, _| {
                let peer = agree_on(ch, &ours)?;
                Ok(settle_on(ch, &ours, &peer, sizes(20))?.clock)
            },
            |ch, _| {
                let peer = agree_on(ch, &theirs)?;
                Ok(settle_on(ch, &theirs, &peer, sizes(30))?.clock)
            },
        );
        (sent.result, received.result)
    };
    let near = hello(Role::Sender).clock - 600;
    let (sent, received) = both(near);
    assert_eq!((sent.expect("agreed"), received.expect("agreed")), (near, near));
    let (sent, received) = both(near - 1);
    for failure in [sent.expect_err("refused"), received.expect_err("refused")].map(Failure::from) {
        assert_eq!(failure.code, 7);
        assert!(failure.fault.contains("the receiver's clock is 10 min 1 s behind the sender's"), "{failure}");
        assert!(failure.mend.contains("set the clock"), "{failure}");
    }
}

/// The channel has no TLS here, as if whoever is on the way had taken it away.
#[test]
fn a_session_that_does_not_last_is_refused_by_both_sides() {
    let both = |post_quantum| {
        let side = |role| Hello { post_quantum, ..hello(role) };
        let (ours, theirs) = (side(Role::Sender), side(Role::Receiver));
        let (sent, received) = try_two_party(|ch, _| agree_on(ch, &ours), |ch, _| agree_on(ch, &theirs));
        [sent.result.map(drop), received.result.map(drop)]
    };
    for outcome in both(true) {
        let refused = Failure::from(outcome.expect_err("refused"));
        assert!(refused.code == 11 && refused.fault.contains("--post-quantum asks for TLS"), "{refused}");
    }
    assert!(both(false).iter().all(Result::is_ok));
}

#[test]
fn a_mirrored_nonce_is_misbehaviour() {
    let ours = hello(Role::Receiver);
    let mirrored = Hello { nonce: ours.nonce, ..hello(Role::Sender) };
    let mirror = |ch: &mut vesica_party::Channel| {
        send(ch, Opening { wire_version: WIRE_VERSION })?;
        send(ch, mirrored)?;
        recv::<Opening>(ch)?;
        recv::<Hello>(ch).map(drop)
    };
    let (_, received) = try_two_party(|ch, _| mirror(ch), |ch, _| agree_on(ch, &ours).map(drop));
    assert_eq!(code(received.result), Some(8));
}

#[test]
fn sizes_that_no_honest_peer_has_are_refused() {
    let empty = receiver_against(hello(Role::Sender), |ch| bring(ch, sizes(0)));
    assert!(empty.err().expect("refused").to_string().contains("an empty set"));
    let too_many = receiver_against(hello(Role::Sender), |ch| bring(ch, sizes(1001)));
    assert_eq!(code(too_many), Some(11));
    let huge = receiver_against(hello(Role::Sender), |ch| bring(ch, sizes(u64::MAX)));
    assert_eq!(code(huge), Some(11));
    for measure in [&b"{\"groups\":2}"[..], b"", b"[]"] {
        let foreign =
            receiver_against(hello(Role::Sender), |ch| bring(ch, Sizes { measure: measure.to_vec(), ..sizes(5) }));
        let abort = foreign.err().expect("refused");
        assert!(abort.exit_code() == 8 && abort.to_string().contains("sizes that do not go with the task"), "{abort}");
    }
}

/// The side that cannot afford a run says how much it would take; the other side hears of it before
/// the protocol begins, and not how much there is.
#[test]
fn a_run_beyond_the_memory_budget_of_either_side_is_refused_on_both() {
    for poor in [Role::Sender, Role::Receiver] {
        let side = |ch: &mut vesica_party::Channel, role: Role| {
            let (ours, theirs) = (hello(role), hello(role.peer()));
            let memory = Budget::now(Some(if role == poor { 1 } else { u64::MAX }));
            let settled = settle_within(ch, &ours, &theirs, sizes(900), memory).map(drop);
            settled.map_err(|failure| {
                let own = failure.to_string();
                assert_eq!(role == poor, own.contains("protocol ecdh-hfh99 on 900 keys"), "{own}");
                assert_eq!(role == poor, own.contains("0 MiB are left of --memory"), "{own}");
                assert!(own.contains("--memory") && (role != poor || own.contains("--max-peer-items")), "{own}");
                failure.for_peer()
            })
        };
        let (sent, received) = try_two_party(|ch, _| side(ch, Role::Sender), |ch, _| side(ch, Role::Receiver));
        let codes = if poor == Role::Sender {
            [code(sent.result), code(received.result)]
        } else {
            [code(received.result), code(sent.result)]
        };
        assert_eq!(codes[0], Some(11), "the {poor}");
        assert!(codes[1].is_some(), "the {poor}'s partner");
    }
}

#[test]
fn a_payload_that_was_not_announced_is_refused_and_so_is_one_that_is_missing() {
    let measure = br#"{"payload":{"fields":[{"name":"score","kind":"text"}],"width":8}}"#;
    let surprise = Sizes { measure: measure.to_vec(), ..sizes(5) };
    assert_eq!(code(receiver_against(hello(Role::Sender), |ch| bring(ch, surprise))), Some(8));
    let proposal = br#"{"payload":["score"],"both_learn":false}"#.to_vec();
    let promised = Hello { proposal, ..hello(Role::Sender) };
    assert_eq!(code(receiver_against(promised, |ch| bring(ch, sizes(5)))), Some(8));
}

/// A sender that says in its configuration and its sizes different numbers of columns, or gives a
/// payload with alternatives, is no honest one.
#[test]
fn forged_alternatives_are_refused() {
    let one = vec![vec!["as it is".to_owned()]];
    let (ours, alone) = (Hello { or_keys: one.clone(), ..hello(Role::Receiver) }, hello(Role::Receiver));
    for (ours, or_keys) in [(&ours, vec![]), (&ours, vec![vec![]]), (&ours, vec![vec![]; 1000]), (&alone, vec![vec![]])]
    {
        let theirs = Hello { or_keys, ..hello(Role::Sender) };
        let (sent, received) =
            try_two_party(|ch, _| agree_on(ch, &theirs).map(drop), |ch, _| agree_on(ch, ours).map(drop));
        for abort in [sent.result.expect_err("they differ"), received.result.expect_err("they differ")] {
            // Whoever is second may hear of it from the first.
            assert!([7, 9].contains(&abort.exit_code()) && abort.to_string().contains("--or-key"), "{abort}");
        }
    }
    let kinds = |count| Sizes { key_kinds: sizes(5).key_kinds.repeat(count), ..sizes(5) };
    let promised = Hello { or_keys: one, ..hello(Role::Sender) };
    for count in [0, 1, 3] {
        assert_eq!(code(receiver_against(promised.clone(), |ch| bring(ch, kinds(count)))), Some(8), "{count} kinds");
    }
    let side = Side {
        role: Role::Receiver,
        settings: &Settings::default(),
        or_keys: true,
        buckets: 1,
        work: false,
        resume: false,
        output: None,
    };
    let job = task::find("intersect").expect("the task").configure(&side).expect("sound");
    let nothing = br#"{"payload":null}"#;
    let settles = |proposal: &[u8], measure: &[u8]| {
        let ours = TaskBytes { proposal: &job.proposal(), measure: nothing };
        job.settle(&Extent::new(5, 5, Security::SemiHonest), ours, TaskBytes { proposal, measure }).is_ok()
    };
    assert!(settles(br#"{"payload":null,"both_learn":false}"#, nothing));
    let measure = br#"{"payload":{"fields":[{"name":"score","kind":"text"}],"width":8}}"#;
    assert!(!settles(br#"{"payload":["score"],"both_learn":false}"#, measure));
}

#[test]
fn the_sender_runs_no_protocol_that_it_did_not_allow() {
    for chosen in ["prty20", "no-such-protocol"] {
        let ours = hello(Role::Sender);
        let theirs = hello(Role::Receiver);
        let (sent, _) = try_two_party(
            |ch, _| Ok(settle_on(ch, &ours, &theirs, sizes(20)).map(drop)?),
            |ch, _| {
                bring(ch, sizes(30))?;
                send(ch, Choice { protocol: chosen.into() })
            },
        );
        let abort = sent.result.expect_err(chosen);
        assert!(abort.to_string().contains("a protocol that this side did not allow"), "{chosen}: {abort}");
    }
}

/// The choice falls by a model that the two releases may not share: it stands, and the sender hears
/// of the difference.
#[test]
fn the_sender_says_where_it_would_have_chosen_another_protocol() {
    let both = |role| Hello { protocols: vec!["ecdh-hfh99".into(), "vole-fast".into()], ..hello(role) };
    for (chosen, own_view) in [("ecdh-hfh99", None), ("vole-fast", Some("ecdh-hfh99"))] {
        let (ours, theirs) = (both(Role::Sender), both(Role::Receiver));
        let session = std::sync::mpsc::channel();
        let (sent, _) = try_two_party(
            |ch, _| {
                let agreement = settle_on(ch, &ours, &theirs, sizes(20))?;
                Ok((agreement.entry.id, agreement.own_view, agreement.why))
            },
            |ch, _| {
                bring(ch, sizes(30))?;
                send(ch, Choice { protocol: chosen.into() })?;
                // The session is what the sender says: the test does not derive it.
                let theirs = recv::<Ready>(ch)?;
                session.0.send(()).ok();
                send(ch, theirs)
            },
        );
        let (id, view, why) = sent.result.expect("settled");
        assert_eq!((id, view), (chosen, own_view));
        assert!(why.contains("ecdh-hfh99, vole-fast by the reference model, over 1 Gbit/s"), "{why}");
    }
}

#[test]
fn a_peer_with_another_session_is_caught() {
    let outcome = receiver_against(hello(Role::Sender), |ch| {
        bring(ch, sizes(20))?;
        recv::<Choice>(ch)?;
        send(ch, Ready { session: [0; 32] })?;
        recv::<Ready>(ch).map(drop)
    });
    let abort = outcome.err().expect("refused");
    assert!(abort.to_string().contains("the session ids of the two sides differ"), "{abort}");
}

#[test]
fn kinds_that_no_side_finds_are_refused() {
    let of = |form, precision| Sizes { key_kinds: vec![Kind { form, precision }], ..sizes(5) };
    assert!(reads::<Sizes>(&bytes(&of(Form::Timestamp, Some(Precision::Day)))));
    assert!(!reads::<Sizes>(&bytes(&of(Form::Timestamp, None))));
    assert!(!reads::<Sizes>(&bytes(&of(Form::Integer, Some(Precision::Day)))));
    let two = Sizes { key_kinds: [sizes(5).key_kinds, sizes(5).key_kinds].concat(), ..sizes(5) };
    assert_eq!(code(receiver_against(hello(Role::Sender), |ch| bring(ch, two))), Some(8));
}

fn bytes<B: Body>(body: &B) -> Vec<u8> {
    let mut out = Writer::with_capacity(0);
    body.write(&mut out);
    out.into_bytes()
}

fn reads<B: Body>(bytes: &[u8]) -> bool {
    B::read(&mut Reader::new(bytes)).is_ok()
}

proptest::proptest! {
    /// Whatever comes, the answer is a value or an error.
    #[test]
    fn parsing_is_total(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
        let _ = (reads::<Opening>(&bytes), reads::<Hello>(&bytes), reads::<Sizes>(&bytes), reads::<Choice>(&bytes));
    }

    /// The same for texts that are nearly right.
    #[test]
    fn parsing_what_is_nearly_right_is_total(at in 0usize..400, byte in proptest::num::u8::ANY) {
        let mut bytes = self::bytes(&hello(Role::Sender));
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        let _ = reads::<Hello>(&bytes);
        let mut bytes = self::bytes(&sizes(7));
        if let Some(place) = bytes.get_mut(at % 60) {
            *place = byte;
        }
        let _ = reads::<Sizes>(&bytes);
    }
}

#[test]
fn deeply_nested_json_is_an_error() {
    assert!(!reads::<Hello>(&[&[0; 4], "[".repeat(60_000).as_bytes()].concat()));
    let nested = Hello { proposal: "[".repeat(60_000).into_bytes(), ..hello(Role::Sender) };
    assert!(reads::<Hello>(&bytes(&nested)), "bytes of the task are not read here");
    assert!(job(Role::Receiver).differences(&nested.proposal).is_err());
}

#[test]
fn another_transcript_ends_the_run_on_both_sides() {
    for (theirs, expected) in [([1; 32], None), ([2; 32], Some(8))] {
        let (sent, received) =
            try_two_party(|ch, _| compare_transcripts(ch, [1; 32]), |ch, _| compare_transcripts(ch, theirs));
        let codes = [code(sent.result), code(received.result)];
        // Whoever is second may hear of it from the first.
        assert!(codes.iter().all(|code| *code == expected || (expected.is_some() && *code == Some(9))), "{codes:?}");
        assert!(codes.contains(&expected), "{codes:?}");
    }
}

/// The task's words are bounded, and what no honest side says is misbehaviour.
#[test]
fn words_of_the_task_are_bounded_and_must_be_of_the_task() {
    let of = |proposal: Vec<u8>| Hello { proposal, ..hello(Role::Sender) };
    assert!(reads::<Hello>(&bytes(&of(vec![b' '; super::negotiator::MOST_TASK_BYTES]))));
    assert!(!reads::<Hello>(&bytes(&of(vec![b' '; super::negotiator::MOST_TASK_BYTES + 1]))));
    let mut cut = bytes(&of(vec![b' '; 100]));
    cut.truncate(50);
    assert!(!reads::<Hello>(&cut));
    for proposal in [&b""[..], b"null", b"{\"payload\":null}", b"{\"payload\":null,\"both_learn\":false,\"more\":1}"] {
        let play = |ch: &mut vesica_party::Channel| {
            send(ch, Opening { wire_version: WIRE_VERSION })?;
            send(ch, of(proposal.to_vec()))?;
            recv::<Opening>(ch)?;
            recv::<Hello>(ch).map(drop)
        };
        let ours = hello(Role::Receiver);
        let (_, received) = try_two_party(|ch, _| play(ch), |ch, _| agree_on(ch, &ours).map(drop));
        let abort = received.result.expect_err("no proposal");
        assert!(
            abort.exit_code() == 8 && abort.to_string().contains("a proposal for the task that no side makes"),
            "{abort}"
        );
    }
}

/// Each side's words are part of the session, though both sides accept them.
#[test]
fn what_a_task_proposes_changes_the_session() {
    let run = |name: &str| {
        let payload = PayloadSpec { columns: vec![name.into()], duplicates: Duplicates::Refuse };
        let settings = Settings { payload: Some(payload), ..Settings::default() };
        let task = task::find("intersect").expect("the task");
        let job = task
            .configure(&Side {
                role: Role::Sender,
                settings: &settings,
                or_keys: false,
                buckets: 1,
                work: false,
                resume: false,
                output: None,
            })
            .expect("sound");
        let proposal = job.proposal();
        let measure =
            format!(r#"{{"payload":{{"fields":[{{"name":"{name}","kind":"text"}}],"width":8}}}}"#).into_bytes();
        let (theirs, sizes_with) = (Hello { proposal, ..hello(Role::Sender) }, Sizes { measure, ..sizes(20) });
        let ours = hello(Role::Receiver);
        let sent = |ch: &mut vesica_party::Channel| {
            let (task, ours, theirs) = (&*job, &theirs, &ours);
            let negotiation =
                Negotiation { task, ours, theirs, sizes: sizes_with, max_peer_items: 1000, memory: None, work: false };
            Ok(settle(ch, &negotiation)?.session)
        };
        let (sent, received) =
            try_two_party(|ch, _| sent(ch), |ch, _| Ok(settle_on(ch, &ours, &theirs, sizes(20))?.session));
        let (sent, received) = (sent.result.expect("settled"), received.result.expect("settled"));
        assert_eq!(sent, received);
        sent
    };
    assert_eq!(run("score"), run("score"));
    assert_ne!(run("score"), run("stage"));
}
