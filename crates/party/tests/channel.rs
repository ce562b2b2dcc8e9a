//! The channel over memory and TCP.

mod support;

use support::*;
use vesica_party::transport::memory;
use vesica_party::{Abort, Phase, Role};

#[test]
fn messages_and_streams_round_trip() {
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            ch.send(&Hello(vec![1, 2, 3]))?;
            let _phase = ch.phase(Phase::Decode);
            ch.send_stream::<Numbers>(&(0..1_000_000).collect::<Vec<u64>>())?;
            let reply: Reply = ch.recv(())?;
            Ok(reply.0)
        },
        |ch| {
            let hello: Hello = ch.recv(3)?;
            let mut numbers = vec![0u64; 1_000_000];
            let (head, tail) = numbers.split_at_mut(12_345);
            ch.recv_stream::<Numbers>(head)?;
            ch.recv_stream::<Numbers>(tail)?;
            assert!(numbers.iter().enumerate().all(|(i, number)| i as u64 == *number));
            ch.send(&Reply(hello.0.len() as u64))?;
            Ok(())
        },
    );
    assert_eq!(sent.unwrap().0, 3);
    received.unwrap();
}
