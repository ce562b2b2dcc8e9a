//! A link between two network namespaces, shaped by the kernel: for programs whose traffic Vesica's
//! own transport does not see, and to check its shaping.
//!
//! Each side runs in a namespace of its own. The two are joined by a pair of virtual Ethernet
//! devices, and `tc` shapes what leaves each of them: a token bucket (tbf) for the rate, and netem for
//! the delay, where the kernel has it. `ip` and `tc` of iproute2 do the work, as root.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use vesica_party::Role;
use vesica_party::transport::Link;
use vesica_structures::facts::Unsupported;

use crate::undo::{Guard, Undo};
use crate::{BenchError, executable};

/// The receiver's address, where it listens.
pub(crate) const RECEIVER_ADDRESS: &str = "10.77.0.1";
/// The sender's address.
const SENDER_ADDRESS: &str = "10.77.0.2";

/// The device in either namespace.
const DEVICE: &str = "vesica0";

/// Least bytes that a token bucket lets pass at once, without waiting.
const LEAST_BURST_BYTES: u64 = 16 << 10;

/// How long the kernel queues what is beyond the rate, before it drops it.
const QUEUE: &str = "400ms";

/// Packets that netem holds back at most.
const DELAYED_PACKETS: &str = "1000000";

/// What a user does who cannot have network namespaces.
const OTHERWISE: &str =
    "or take a link without `netns:`: loopback, or for protocols RATE,RTT, which Vesica shapes itself";

/// Two namespaces with a link between them; both are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Namespaces {
    sender: String,
    receiver: String,
    _removed_at_the_end: [Guard; 2],
}

impl Namespaces {
    /// Makes the namespaces and the link.
    ///
    /// # Errors
    /// If this process is not root, `ip` or `tc` is missing, or the kernel cannot do it.
    pub(crate) fn new(link: Link) -> Result<Self, BenchError> {
        if !rustix::process::geteuid().is_root() {
            return Err(refused("a link of network namespaces needs root", "run the command as root"));
        }
        if let Some(tool) = ["ip", "tc"].into_iter().find(|tool| !executable::exists(tool)) {
            return Err(refused(
                format_args!("a link of network namespaces needs `{tool}`, which is not on PATH"),
                "install iproute2",
            ));
        }
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = |side| format!("vesica-{}-{number}-{side}", std::process::id());
        let [sender, receiver] = [name("s"), name("r")];
        // What cannot be made cannot be removed either, which does no harm.
        let guards = [&sender, &receiver].map(|name| Guard::new(Undo::RemoveNamespace(name.clone())));
        let made = Self { sender, receiver, _removed_at_the_end: guards };
        made.join()?;
        for (name, address) in [(&made.sender, SENDER_ADDRESS), (&made.receiver, RECEIVER_ADDRESS)] {
            raise(name, address)?;
            shape(name, link)?;
        }
        Ok(made)
    }

    fn join(&self) -> Result<(), BenchError> {
        let Self { sender, receiver, .. } = self;
        for name in [sender, receiver] {
            run("ip", &["netns", "add", name])?;
        }
        let peer = ["type", "veth", "peer", "name", DEVICE, "netns", receiver];
        run("ip", &[["link", "add", "name", DEVICE, "netns", sender].as_slice(), &peer].concat())
    }

    fn name(&self, role: Role) -> &str {
        match role {
            Role::Sender => &self.sender,
            Role::Receiver => &self.receiver,
        }
    }

    /// The same command, inside of the namespace of `role`.
    pub(crate) fn command(&self, role: Role, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", self.name(role)]).arg(command.get_program()).args(command.get_args());
        inside
    }

    /// Bytes that sender and receiver have sent so far: Ethernet frames with all their headers.
    pub(crate) fn sent_bytes(&self) -> Result<[u64; 2], BenchError> {
        Ok([sent_bytes(&self.sender)?, sent_bytes(&self.receiver)?])
    }
}

/// Gives a namespace its device.
fn raise(name: &str, address: &str) -> Result<(), BenchError> {
    let within = |rest: &[&str]| run("ip", &[&["-n", name], rest].concat());
    within(&["link", "set", "lo", "up"])?;
    // Without IPv6, nothing but the two sides sends.
    within(&["link", "set", DEVICE, "addrgenmode", "none"])?;
    within(&["addr", "add", &format!("{address}/30"), "dev", DEVICE])?;
    within(&["link", "set", DEVICE, "up"])
}

fn shape(name: &str, link: Link) -> Result<(), BenchError> {
    let within = |rest: &[&str]| run("tc", &[&["-n", name, "qdisc", "add", "dev", DEVICE], rest].concat());
    let rate = format!("{}bit", link.bits_per_second);
    // A millisecond's worth: the kernel does not wake up more often than that on all machines.
    let burst = (link.bits_per_second / 8 / 1000).max(LEAST_BURST_BYTES).to_string();
    let bucket = ["tbf", "rate", &rate, "burst", &burst, "latency", QUEUE];
    if link.round_trip_us == 0 {
        return within(&[&["root"], bucket.as_slice()].concat());
    }
    // Each direction takes half of the round trip.
    let delay = format!("{}us", link.round_trip_us.div_ceil(2));
    within(&["root", "handle", "1:", "netem", "delay", &delay, "limit", DELAYED_PACKETS]).map_err(|error| {
        let BenchError::Unsupported(Unsupported { what, .. }) = error else { return error };
        refused(
            format_args!("a round trip above 0 between network namespaces needs netem: {what}"),
            "load the kernel's module sch_netem, write a round trip of 0ms",
        )
    })?;
    within(&[&["parent", "1:1", "handle", "10:"], bucket.as_slice()].concat())
}

fn sent_bytes(name: &str) -> Result<u64, BenchError> {
    let said = output("tc", &["-n", name, "-s", "-j", "qdisc", "show", "dev", DEVICE])?;
    counted(&said).ok_or_else(|| io::Error::other("tc does not count the bytes of the link").into())
}

/// Bytes of either side between two counts.
pub(crate) fn difference([sender, receiver]: [u64; 2], [sender_then, receiver_then]: [u64; 2]) -> [u64; 2] {
    [sender_then.saturating_sub(sender), receiver_then.saturating_sub(receiver)]
}

/// Bytes that have passed the outermost qdisc, in what `tc -s -j qdisc show` prints.
fn counted(said: &[u8]) -> Option<u64> {
    let qdiscs: Vec<Value> = serde_json::from_slice(said).ok()?;
    qdiscs.iter().find(|qdisc| qdisc.get("root") == Some(&Value::Bool(true)))?.get("bytes")?.as_u64()
}

fn run(tool: &str, arguments: &[&str]) -> Result<(), BenchError> {
    output(tool, arguments).map(drop)
}

/// What a tool prints; a failure of it is a refusal with its words.
fn output(tool: &str, arguments: &[&str]) -> Result<Vec<u8>, BenchError> {
    let Output { status, stdout, stderr } = Command::new(tool).args(arguments).stdin(Stdio::null()).output()?;
    if status.success() {
        return Ok(stdout);
    }
    let said = String::from_utf8_lossy(&stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Err(refused(
        format_args!("`{tool} {}` ended with {status}: {said}", arguments.join(" ")),
        "check that this root may make network namespaces, which root of a container mostly may not",
    ))
}

fn refused(fault: impl std::fmt::Display, mend: &str) -> BenchError {
    Unsupported::new(fault, format_args!("{mend}, {OTHERWISE}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_outermost_qdisc_are_counted() {
        let said =
            br#"[{"kind":"tbf","parent":"1:1","bytes":7},{"kind":"netem","handle":"1:","root":true,"bytes":5228478}]"#;
        assert_eq!(counted(said), Some(5_228_478));
        for bad in ["", "[]", "{}", r#"[{"kind":"tbf","root":true}]"#, r#"[{"root":true,"bytes":-1}]"#] {
            assert_eq!(counted(bad.as_bytes()), None, "{bad}");
        }
    }
}
