use std::net::TcpListener;

use super::*;

/// Guests of whom it is only asked who has to go.
type Guests = super::Guests<(), ()>;

/// Small enough to fill, with stays that a test sets by hand.
const LIMITS: Limits = Limits {
    guests: 4,
    guests_of_one_address: 2,
    first_bytes: Duration::from_secs(60),
    handshake: Duration::from_secs(60),
    silent_stay: Duration::from_millis(100),
    speaking_stay: Duration::from_secs(1),
};

struct House {
    listener: TcpListener,
    start: Instant,
}

impl House {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Self { listener, start: Instant::now() }
    }

    /// Guests without threads: the last part of the address, the stage, and milliseconds between
    /// the start and the arrival of each.
    fn with(&self, guests: &[(u8, Stage, u64)]) -> Guests {
        let mut house = Guests::new(LIMITS);
        for (number, &(host, stage, after)) in (0..).zip(guests) {
            let socket = TcpStream::connect(self.listener.local_addr().expect("bound")).expect("connected");
            let from = socket.local_addr().expect("bound");
            let visit = Arc::new(Visit { socket: socket.into(), from, stage: Mutex::new(stage) });
            house.guests.push(Guest {
                number,
                home: home([192, 0, 2, host].into()),
                since: self.start + Duration::from_millis(after),
                visit,
            });
        }
        house
    }

    /// Whose turn it is to go, this many milliseconds after the start.
    fn goes(&self, guests: &[(u8, Stage, u64)], after: u64) -> Option<usize> {
        self.with(guests).in_the_way(self.start + Duration::from_millis(after))
    }
}

use Stage::{Admitted, Evicted, Silent, Speaking};

#[test]
fn nobody_goes_while_there_is_room() {
    let house = House::new();
    assert_eq!(house.goes(&[(1, Silent, 0), (2, Silent, 0), (3, Speaking, 0), (3, Silent, 0)], 5000), None);
}

#[test]
fn the_oldest_that_has_said_nothing_makes_room_for_one_too_many() {
    let house = House::new();
    let guests = [(1, Speaking, 0), (2, Silent, 10), (3, Silent, 20), (4, Speaking, 30), (5, Silent, 50)];
    assert_eq!(house.goes(&guests, 110), Some(1));
    assert_eq!(house.goes(&guests, 109), None, "its first bytes may still be on their way");
}

#[test]
fn a_handshake_in_progress_makes_room_only_if_no_silent_guest_can() {
    let house = House::new();
    let guests = [(1, Speaking, 0), (2, Speaking, 10), (3, Speaking, 20), (4, Speaking, 30), (5, Silent, 40)];
    assert_eq!(
        (house.goes(&guests, 999), house.goes(&guests, 1000)),
        (None, Some(0)),
        "the newest one is not asked to go"
    );
}

#[test]
fn strangers_of_one_address_make_room_among_themselves_so_that_the_newest_gets_in() {
    let house = House::new();
    let guests = [(1, Silent, 0), (7, Speaking, 10), (7, Silent, 20), (7, Silent, 30)];
    assert_eq!(house.goes(&guests, 200), Some(2));
}

#[test]
fn neither_the_partner_nor_who_has_gone_already_is_asked_to_go() {
    let house = House::new();
    let guests = [(7, Admitted, 0), (7, Evicted, 0), (7, Evicted, 0), (7, Silent, 0), (7, Silent, 0)];
    assert_eq!(house.goes(&guests, 5000), None);
    let mut house = house.with(&guests);
    house.give_up_one();
    assert_eq!(
        house.guests.iter().map(|guest| guest.visit.stage()).collect::<Vec<_>>(),
        [Admitted, Evicted, Evicted, Evicted, Silent]
    );
    assert!(house.partner_is_coming());
    assert_eq!(house.dismiss(), TurnedAway { silent: 2, refused: 0, crowded_out: 0 });
    assert!(house.partner_is_coming());
}

#[test]
fn a_guest_that_had_to_go_is_not_admitted_any_more() {
    let house = House::new();
    let house = house.with(&[(1, Speaking, 0)]);
    let visit = house.guests[0].visit.clone();
    assert_eq!(visit.evict(), Some(Speaking));
    assert!(!visit.reach(Admitted) && visit.evict().is_none());
}

#[test]
fn one_customers_network_is_one_address() {
    let home = |text: &str| super::home(text.parse().expect("an address"));
    assert_eq!(home("2001:db8:1:2:3::4"), home("2001:db8:1:2::5"));
    assert_ne!(home("2001:db8:1:2::5"), home("2001:db8:1:3::5"));
    assert_eq!(home("::ffff:192.0.2.1"), home("192.0.2.1"));
    assert_ne!(home("192.0.2.1"), home("192.0.2.2"));
}

#[test]
fn who_says_nothing_has_to_go_and_is_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let limits = Limits { first_bytes: Duration::from_millis(20), ..LIMITS };
    let mut guests = Guests::new(limits);
    let stranger = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
    let (socket, from) = listener.accept().expect("accepted");
    guests.welcome(socket, from, |visit, limits| visit.speaks(limits).then_some(Ok(()))).expect("a thread");
    assert!(guests.next(Duration::from_secs(60)).is_none());
    assert_eq!(guests.dismiss().to_string(), "1 other connection was turned away (1 said nothing)");
    drop(stranger);
}
