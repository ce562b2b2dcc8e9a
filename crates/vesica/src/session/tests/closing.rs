//! What happens after the protocol's last message: a result that is complete stays, whatever the
//! partner does.

use vesica_party::transport::{tcp, tls};
use vesica_party::{Channel, ChannelOptions};
use vesica_structures::rng::SecretRng;

use super::super::prepare::Preparation;
use super::super::run::{Limits, in_role, run_within};
use super::super::validate;
use super::*;
use crate::handshake::messages::{Seen, Sizes, send};
use crate::handshake::{self, Negotiation};
use crate::progress::Stage;
use crate::receipt::Receipt;
use crate::table::Collected;

const LIMIT: Duration = Duration::from_secs(60);

/// Answers at once where a real run is patient.
fn limits(parting: Duration) -> Limits {
    Limits { parting, channel: ChannelOptions { drain_for: Duration::from_millis(100), ..ChannelOptions::default() } }
}

/// Connects and runs the protocol as `config` says, to its last message.
fn protocol(config: &Config, address: SocketAddr) -> Channel {
    let Protection::Tls { identity, peer } = &config.protection else { panic!("over TLS") };
    let socket = tcp::connect(&address.to_string(), LIMIT).expect("connected");
    let connection = tls::connect(socket, identity, peer.clone(), LIMIT).expect("known");
    let options = ChannelOptions {
        ping_every: Duration::from_millis(20),
        drain_for: Duration::from_millis(100),
        transcript: true,
        ..ChannelOptions::default()
    };
    // The side that connects is the channel's sender.
    let mut ch = Channel::open(connection, Role::Sender, options).expect("open");
    let job = validate::configure(config).expect("a configuration");
    let mut hello = validate::hello(config, &*job).expect("a configuration");
    hello.clock = handshake::clock::now();
    hello.nonce = [7; 32];
    let salt_share = [9; 32];
    hello.salt_commitment = handshake::salt::commit(config.role, &salt_share);
    let theirs = handshake::agree(&mut ch, &hello, &*job).expect("agreed");
    let mut table =
        Preparation::start(config, &*job, &hello).finish(&ch, &Interrupt::default(), None).expect("a table").table;
    let key_kinds = table.stats.kinds();
    let sizes = Sizes { items: table.digests.len() as u64, salt_share, key_kinds, measure: job.measure(&table) };
    let negotiation = Negotiation {
        task: &*job,
        ours: &hello,
        theirs: &theirs,
        sizes,
        max_peer_items: 1000,
        memory: None,
        work: false,
    };
    let agreement = handshake::settle(&mut ch, &negotiation).expect("settled");
    let items = std::mem::take(&mut table.digests).fold(agreement.salt);
    let mut rng = SecretRng::insecure_from_seed(1);
    in_role(config.role, &mut ch, |ch| agreement.terms.run(agreement.entry, items, &mut table, ch, &mut rng))
        .map(drop)
        .expect("computed");
    ch
}

/// Tells the address, and interrupts the run when it comes to its end, if it is to.
struct Watch {
    address: std::sync::Mutex<mpsc::Sender<SocketAddr>>,
    interrupt: Interrupt,
    interrupts: bool,
}

impl Events for Watch {
    fn listening(&self, address: SocketAddr) {
        self.address.lock().expect("one thread").send(address).expect("heard");
    }

    fn stage(&self, stage: &Stage) {
        if self.interrupts && *stage == Stage::Closing {
            self.interrupt.raise(Failure::new(130, "interrupted by SIGINT", "start again"));
        }
    }
}

/// How a run of `role` ends whose partner does only `last` after the protocol's last message, and
/// pings.
fn against(
    role: Role,
    parting: Duration,
    interrupts: bool,
    last: impl FnOnce(&mut Channel) + Send,
) -> (Folder, Result<Report, Failure>) {
    let folder = Folder::new();
    let mut config = folder.config(role, "sum");
    let mut theirs = folder.config(role.peer(), "sum");
    amount(&mut config);
    amount(&mut theirs);
    config.receipt = Some(folder.path("receipt.json"));
    // What this side writes is not the partner's to replace.
    if let Some(to) = &mut theirs.destination {
        to.sink = Arc::new(Collected::default());
    }
    let (say, address) = mpsc::channel();
    let interrupt = Interrupt::default();
    let events = Watch { address: say.into(), interrupt: interrupt.clone(), interrupts };
    // The partner goes on pinging until this side has ended.
    let (ended, end) = mpsc::channel::<()>();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut ch = protocol(&theirs, address.recv_timeout(LIMIT).expect("an address"));
            last(&mut ch);
            let _ = end.recv();
        });
        let outcome = run_within(&limits(parting), &config, &interrupt, &events);
        drop(ended);
        outcome
    });
    (folder, outcome)
}

/// The result is there, the receipt has the receiver's signature alone, and the report says `why`.
#[track_caller]
fn is_kept(folder: &Folder, outcome: Result<Report, Failure>, why: &str) {
    let report = outcome.expect("a result");
    assert_eq!(folder.read("result.csv"), "amount\n10.75\n");
    let warning = report.warnings.iter().find(|warning| warning.contains("the partner did not confirm the end"));
    let warning = warning.unwrap_or_else(|| panic!("not said: {:?}", report.warnings));
    assert!(warning.contains(why) && warning.contains("this side's signature alone"), "{warning}");
    let receipt: Receipt = serde_json::from_str(&folder.read("receipt.json")).expect("a receipt");
    assert_eq!((receipt.verify(), receipt.sender_signature), ((false, true), None));
}

#[test]
fn a_partner_that_only_pings_does_not_withhold_the_result() {
    let (folder, outcome) = against(Role::Receiver, Duration::from_millis(200), false, |_| ());
    is_kept(&folder, outcome, "the partner's goodbye took longer than");
}

#[test]
fn nor_does_one_that_pings_when_its_goodbye_is_due() {
    let (folder, outcome) = against(Role::Receiver, Duration::from_millis(200), false, |ch| {
        let transcript = ch.transcript().expect("over TLS");
        handshake::compare_transcripts(ch, transcript).expect("the same");
    });
    is_kept(&folder, outcome, "the partner's goodbye took longer than");
}

#[test]
fn a_partner_that_claims_another_conversation_does_not_take_the_result_away() {
    let (folder, outcome) =
        against(Role::Receiver, LIMIT, false, |ch| send(ch, Seen { transcript: [9; 32] }).expect("sent"));
    is_kept(&folder, outcome, "the transcripts of the two sides differ");
}

#[test]
fn an_interruption_ends_the_wait_for_the_goodbye_and_keeps_the_result() {
    let (folder, outcome) = against(Role::Receiver, Duration::from_secs(3600), true, |_| ());
    is_kept(&folder, outcome, "interrupted by SIGINT");
}

/// A side without a result must know that all went well, but does not wait for ever either.
#[test]
fn a_sender_waits_for_a_goodbye_that_is_due_no_longer_than_its_limit() {
    let (_folder, outcome) = against(Role::Sender, Duration::from_millis(200), false, |ch| {
        let transcript = ch.transcript().expect("over TLS");
        handshake::compare_transcripts(ch, transcript).expect("the same");
    });
    let failure = outcome.expect_err("no goodbye");
    assert!(failure.code == 10 && failure.fault.contains("the partner's goodbye took longer"), "{failure}");
}
