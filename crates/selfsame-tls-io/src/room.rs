//! Limits on connections and on handshakes in progress, in total and per address; silent handshakes lose their place.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::error::Error;

/// What counts as one address: an IPv4 address, or the /64 that an IPv6 customer gets (RFC 6177 §2).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct AddressOrigin(IpAddr);

impl From<IpAddr> for AddressOrigin {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() & (u128::MAX << 64);
                Self(IpAddr::V6(Ipv6Addr::from_bits(network)))
            }
            v4 @ IpAddr::V4(_) => Self(v4),
        }
    }
}

/// A limit on connections, in total and per address.
#[derive(Clone, Debug)]
pub struct Room(Arc<Connections>);

#[derive(Debug)]
struct Connections {
    most: usize,
    share: usize,
    taken: Mutex<TakenPlace>,
}

#[derive(Debug, Default)]
struct TakenPlace {
    all: usize,
    of: HashMap<AddressOrigin, usize>,
}

/// A connection's place, freed on drop.
#[derive(Debug)]
pub struct RoomPlace {
    room: Arc<Connections>,
    origin: AddressOrigin,
}

/// Why no place is free.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Full {
    /// All places are taken.
    #[error("no room for another connection")]
    All,
    /// This address has used its share.
    #[error("no room for another connection from this address")]
    Address,
}

impl Room {
    /// At most `most` connections, at most `share` of them from one address (of IPv6, from one /64).
    pub fn new(most: usize, share: usize) -> Self {
        let taken = Mutex::default();
        Self(Arc::new(Connections { most, share, taken }))
    }

    /// Takes a place for a connection from `from`.
    ///
    /// # Errors
    /// If no place is free.
    pub fn take(&self, from: IpAddr) -> Result<RoomPlace, Full> {
        let origin = AddressOrigin::from(from);
        let mut taken = lock(&self.0.taken);
        if taken.all >= self.0.most {
            return Err(Full::All);
        }
        if taken.of.get(&origin).copied().unwrap_or_default() >= self.0.share {
            return Err(Full::Address);
        }
        taken.all = taken.all.saturating_add(1);
        let count = taken.of.entry(origin).or_default();
        *count = count.saturating_add(1);
        drop(taken);
        let room = Arc::clone(&self.0);
        Ok(RoomPlace { room, origin })
    }
}

impl Drop for RoomPlace {
    fn drop(&mut self) {
        let mut taken = lock(&self.room.taken);
        taken.all = taken.all.saturating_sub(1);
        if let Some(count) = taken.of.get_mut(&self.origin) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.of.remove(&self.origin);
            }
        }
    }
}

/// Limits on the handshakes that an acceptor has in progress.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// Handshakes at the same time. Beyond it, the oldest that has not sent its hello loses its place; if all have, the
    /// new one is refused.
    pub handshakes: usize,
    /// Of these, at most this many from one address (of IPv6, from one /64), by the same rule.
    pub share: usize,
    /// Time-out for the first byte, after which the connection is closed.
    pub first_byte: Duration,
}

impl Default for Bounds {
    /// 256 handshakes, a quarter of them from one address, and three seconds for the first byte.
    fn default() -> Self {
        Self {
            handshakes: 256,
            share: 64,
            first_byte: Duration::from_secs(3),
        }
    }
}

/// The handshakes that an acceptor and its clones have in progress.
#[derive(Clone, Debug)]
pub(crate) struct Handshakes(Arc<WaitingConnection>);

#[derive(Debug)]
struct WaitingConnection {
    bounds: Bounds,
    seats: Mutex<Seats>,
}

/// Places in use, ordered by age.
#[derive(Debug, Default)]
struct Seats {
    next: u64,
    taken: BTreeMap<u64, Sitting>,
}

#[derive(Debug)]
struct Sitting {
    origin: Option<AddressOrigin>,
    has_said_hello: bool,
    gives_way: Arc<Notify>,
}

/// A handshake's place.
#[derive(Debug)]
pub(crate) struct HandshakeSeat {
    waiting: Arc<WaitingConnection>,
    number: u64,
    gives_way: Arc<Notify>,
}

impl Handshakes {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let seats = Mutex::default();
        Self(Arc::new(WaitingConnection { bounds, seats }))
    }

    /// Takes a place. If none is free, the oldest handshake that has not sent its hello loses its own.
    pub(crate) fn enter(&self, from: Option<IpAddr>) -> Result<HandshakeSeat, Error> {
        let (origin, bounds) = (from.map(AddressOrigin::from), self.0.bounds);
        let mut seats = lock(&self.0.seats);
        let of_origin = |sitting: &Sitting| origin.is_some() && sitting.origin == origin;
        if seats.taken.values().filter(|one| of_origin(one)).count() >= bounds.share {
            seats.free(of_origin)?;
        }
        if seats.taken.len() >= bounds.handshakes {
            seats.free(|_| true)?;
        }
        let (number, gives_way) = (seats.next, Arc::new(Notify::new()));
        seats.next = number.wrapping_add(1);
        let sitting = Sitting {
            origin,
            has_said_hello: false,
            gives_way: Arc::clone(&gives_way),
        };
        seats.taken.insert(number, sitting);
        drop(seats);
        Ok(HandshakeSeat {
            waiting: Arc::clone(&self.0),
            number,
            gives_way,
        })
    }
}

impl Seats {
    /// Frees the place of the oldest matching handshake that has not sent its hello.
    fn free(&mut self, of: impl Fn(&Sitting) -> bool) -> Result<(), Error> {
        let silent = |sitting: &Sitting| !sitting.has_said_hello && of(sitting);
        let mut sitting = self.taken.iter();
        let oldest = sitting.find_map(|(number, sitting)| silent(sitting).then_some(*number));
        let freed = oldest.and_then(|number| self.taken.remove(&number));
        freed.ok_or(Error::Crowded)?.gives_way.notify_one();
        Ok(())
    }
}

impl HandshakeSeat {
    /// Marks the client as having sent its hello, so that it keeps the place.
    pub(crate) fn said_hello(&self) {
        if let Some(sitting) = lock(&self.waiting.seats).taken.get_mut(&self.number) {
            sitting.has_said_hello = true;
        }
    }

    /// Resolves when the place is lost: to another handshake, or because no byte arrived in time.
    pub(crate) async fn is_lost(&self, has_heard: &AtomicBool) -> Error {
        let silence = async {
            tokio::time::sleep(self.waiting.bounds.first_byte).await;
            if has_heard.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = self.gives_way.notified() => Error::Crowded,
            () = silence => Error::Silent,
        }
    }
}

impl Drop for HandshakeSeat {
    fn drop(&mut self) {
        lock(&self.waiting.seats).taken.remove(&self.number);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_a_share_of_the_room_and_a_network_of_ipv6_one_share() {
        let room = Room::new(3, 2);
        let _one = room.take(at("2001:db8::1")).unwrap();
        let other = room.take(at("2001:db8::ffff:2")).unwrap();
        assert_eq!(room.take(at("2001:db8::3")).unwrap_err(), Full::Address);
        let _next = room.take(at("2001:db8:0:1::3")).unwrap();
        assert_eq!(room.take(at("192.0.2.1")).unwrap_err(), Full::All);
        drop(other);
        assert!(room.take(at("2001:db8::3")).is_ok());
    }

    #[test]
    fn an_address_of_ipv4_is_the_same_however_it_is_written() {
        let room = Room::new(9, 1);
        let _one = room.take(at("192.0.2.1")).unwrap();
        let mapped = room.take(at("::ffff:192.0.2.1")).unwrap_err();
        assert_eq!(mapped, Full::Address);
        assert!(room.take(at("192.0.2.2")).is_ok());
    }

    #[test]
    fn who_said_hello_keeps_the_place_and_the_oldest_silent_one_gives_way() {
        let bounds = Bounds {
            handshakes: 3,
            share: 2,
            ..Bounds::default()
        };
        let handshakes = Handshakes::new(bounds);
        let enter = |from: &str| handshakes.enter(Some(at(from)));
        let spoken = enter("192.0.2.1").unwrap();
        spoken.said_hello();
        let silent = enter("192.0.2.1").unwrap();
        // The address has used its share: its own silent handshake loses its place.
        let next = enter("192.0.2.1").unwrap();
        let other = enter("192.0.2.2").unwrap();
        let numbers = |handshakes: &Handshakes| {
            let seats = lock(&handshakes.0.seats);
            seats.taken.keys().copied().collect::<Vec<_>>()
        };
        assert_eq!(
            numbers(&handshakes),
            [spoken.number, next.number, other.number]
        );
        // All places are taken: the oldest silent handshake of all loses its place.
        let last = enter("192.0.2.3").unwrap();
        assert_eq!(
            numbers(&handshakes),
            [spoken.number, other.number, last.number]
        );
        drop((silent, next));
        assert_eq!(numbers(&handshakes).len(), 3);
        other.said_hello();
        last.said_hello();
        assert!(matches!(enter("192.0.2.4"), Err(Error::Crowded)));
    }
}
