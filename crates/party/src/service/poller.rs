//! Many connections that are waited for at once, by any number of threads.

pub(super) use system::Poller;

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::net::TcpStream;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::buffer::spare_capacity;
    use rustix::event::Timespec;
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

    /// Says which of many sockets has something to read, or has ended: once each time that it was asked
    /// to, and to one thread.
    #[derive(Debug)]
    pub struct Poller(OwnedFd);

    /// Once: another thread could otherwise be told of a connection that one is at work on.
    const EVENTS: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ONESHOT);

    impl Poller {
        pub fn new() -> io::Result<Self> {
            Ok(Self(epoll::create(CreateFlags::CLOEXEC)?))
        }

        /// Adds a socket under a number of its own. Nobody is told of it yet.
        pub fn add(&self, socket: &TcpStream, number: u64) -> io::Result<()> {
            Ok(epoll::add(&self.0, socket, EventData::new_u64(number), EventFlags::ONESHOT)?)
        }

        /// Has one thread told once that there is something to read, if there is already or as soon as
        /// something comes.
        pub fn watch(&self, socket: &TcpStream, number: u64) -> io::Result<()> {
            Ok(epoll::modify(&self.0, socket, EventData::new_u64(number), EVENTS)?)
        }

        pub fn remove(&self, socket: &TcpStream) -> io::Result<()> {
            Ok(epoll::delete(&self.0, socket)?)
        }

        /// The number of a socket that has something to read, or `None` if that was so for none of them
        /// within `wait`.
        pub fn wait(&self, wait: Duration) -> io::Result<Option<u64>> {
            let wait = Timespec::try_from(wait).ok();
            let mut events = Vec::with_capacity(1);
            match epoll::wait(&self.0, spare_capacity(&mut events), wait.as_ref()) {
                Ok(_) => Ok(events.first().map(|event| event.data.u64())),
                Err(rustix::io::Errno::INTR) => Ok(None),
                Err(fault) => Err(fault.into()),
            }
        }
    }
}

/// Elsewhere each client has a thread.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::convert::Infallible;
    use std::io;
    use std::net::TcpStream;
    use std::time::Duration;

    #[derive(Debug)]
    pub struct Poller(Infallible);

    impl Poller {
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn add(&self, _: &TcpStream, _: u64) -> io::Result<()> {
            match self.0 {}
        }

        pub fn watch(&self, _: &TcpStream, _: u64) -> io::Result<()> {
            match self.0 {}
        }

        pub fn remove(&self, _: &TcpStream) -> io::Result<()> {
            match self.0 {}
        }

        pub fn wait(&self, _: Duration) -> io::Result<Option<u64>> {
            match self.0 {}
        }
    }
}
