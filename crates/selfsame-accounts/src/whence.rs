//! Where a sign-in comes from, and from which device: the origins that wrong passwords are counted for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{encoding, hash};

use crate::attempts::AttemptKey;

/// Device tokens that one browser may hold: a family may share it.
const DEVICES_MAX: usize = 5;
const ID_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
/// Seconds for which a device is known: a year from its last sign-in.
pub const KNOWN_SECONDS: u64 = 365 * 86_400;

/// The origin of a sign-in.
#[derive(Clone, Debug)]
pub struct Whence {
    address: String,
    neighbourhood: String,
    devices: Option<String>,
}

impl Whence {
    /// This address, and the device tokens that the browser sends, as returned by `Accounts::know_device`.
    #[must_use]
    pub fn of(address: IpAddr, devices: Option<&str>) -> Self {
        let (network, neighbourhood) = match address.to_canonical() {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                (address.into(), IpAddr::V4(Ipv4Addr::new(a, b, c, 0)))
            }
            // One host may use all addresses of a /64.
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                let network = IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0));
                (network, network)
            }
        };
        Self {
            address: network.to_string(),
            neighbourhood: neighbourhood.to_string(),
            devices: devices.map(str::to_owned),
        }
    }

    /// The keys that an attempt at `account` is counted under: a device known to the account is counted on its own.
    pub(super) fn keys(&self, account: &str, known: Option<String>) -> Vec<AttemptKey> {
        match known {
            Some(device) => vec![AttemptKey::Device(device)],
            None => vec![
                AttemptKey::Pair(account.to_owned(), self.neighbourhood.clone()),
                AttemptKey::Address(self.address.clone()),
                AttemptKey::Account(account.to_owned()),
            ],
        }
    }

    /// The keys that an attempt with a passkey is counted under. None can be guessed, so that the account is not counted:
    /// a caller cannot slow down the sign-ins of people elsewhere.
    pub(super) fn keys_of_passkeys(&self, known: Option<String>) -> Vec<AttemptKey> {
        let counted = known.map_or(
            AttemptKey::Address(self.address.clone()),
            AttemptKey::Device,
        );
        vec![counted]
    }

    /// The device that has signed in to `account` before, if the browser holds its token.
    pub(super) fn device(&self, key: &SealingKey, account: &str, now: UnixTime) -> Option<String> {
        let mut tokens = self.devices.as_deref()?.split('.').take(DEVICES_MAX);
        tokens.find_map(|token| known(key, token, account, now))
    }
}

/// The token that a browser keeps after signing in to `account`, added to the device tokens it has already: `id ‖ end ‖
/// MAC`, which reveals nothing about the account.
pub(super) fn remembered(
    key: &SealingKey,
    account: &str,
    id: [u8; ID_BYTES],
    now: UnixTime,
    before: Option<&str>,
) -> String {
    let mut token = id.to_vec();
    token.extend(now.plus(KNOWN_SECONDS).0.to_be_bytes());
    let tag = key.mac(&signed(account, &token));
    token.extend(tag);
    let others = before.into_iter().flat_map(|before| before.split('.'));
    let others =
        others.filter(|other| is_token(other) && known(key, other, account, now).is_none());
    let all: Vec<String> = std::iter::once(encoding::base64url_encode(&token))
        .chain(others.map(str::to_owned))
        .take(DEVICES_MAX)
        .collect();
    all.join(".")
}

/// The device's id, if this token is valid for `account` now.
fn known(key: &SealingKey, token: &str, account: &str, now: UnixTime) -> Option<String> {
    let token = encoding::base64url_decode(token).ok()?;
    let (body, tag) = token.split_at_checked(ID_BYTES + TIME_BYTES)?;
    let (id, end) = body.split_at_checked(ID_BYTES)?;
    let end = UnixTime(u64::from_be_bytes(end.try_into().ok()?));
    let genuine = hash::ct_eq(tag, &key.mac(&signed(account, body)));
    (genuine && now < end).then(|| encoding::base64url_encode(id))
}

fn is_token(text: &str) -> bool {
    encoding::base64url_decode(text).is_ok_and(|token| token.len() == ID_BYTES + TIME_BYTES + 32)
}

fn signed(account: &str, body: &[u8]) -> Vec<u8> {
    [b"known device\0", body, account.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixTime = UnixTime(1_000_000);

    fn key() -> SealingKey {
        SealingKey::from_bytes([7; 32])
    }

    fn device(token: &str, account: &str, now: UnixTime) -> Option<String> {
        let whence = Whence::of([192, 0, 2, 1].into(), Some(token));
        whence.device(&key(), account, now)
    }

    #[test]
    fn a_device_is_known_to_the_account_it_has_signed_in_to_for_a_year_and_to_no_other() {
        let token = remembered(&key(), "maja", [1; 16], NOW, None);
        assert!(device(&token, "maja", NOW).is_some());
        assert_eq!(device(&token, "otto", NOW), None);
        assert_eq!(device(&token, "maja", NOW.plus(KNOWN_SECONDS)), None);
        let other = SealingKey::from_bytes([8; 32]);
        let forged = remembered(&other, "maja", [1; 16], NOW, None);
        for none in ["", ".", "AAAA", &forged, &token[1..]] {
            assert_eq!(device(none, "maja", NOW), None, "{none}");
        }
    }

    #[test]
    fn a_browser_is_known_to_the_last_few_who_used_it_and_its_cookie_stays_small() {
        let mut token = None;
        for number in 0..9_u8 {
            let account = format!("person {}", number / 2);
            let made = remembered(&key(), &account, [number; 16], NOW, token.as_deref());
            token = Some(made);
        }
        let token = token.unwrap();
        assert_eq!(token.split('.').count(), DEVICES_MAX);
        assert!(token.len() <= 512);
        for number in 0..5 {
            let account = format!("person {number}");
            assert!(device(&token, &account, NOW).is_some(), "{account}");
        }
    }

    #[test]
    fn addresses_next_to_each_other_are_counted_as_one() {
        let pair = |address: &str| {
            let whence = Whence::of(address.parse().unwrap(), None);
            whence.keys("account", None)[0].clone()
        };
        assert_eq!(pair("192.0.2.1"), pair("::ffff:192.0.2.200"));
        assert_ne!(pair("192.0.2.1"), pair("192.0.3.1"));
        assert_eq!(pair("2001:db8:0:1::1"), pair("2001:db8:0:1:2::"));
        assert_ne!(pair("2001:db8:0:1::1"), pair("2001:db8:0:2::1"));
    }
}
