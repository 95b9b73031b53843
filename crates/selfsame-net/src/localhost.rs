//! The addresses of `localhost`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) const LOCALHOST: &str = "localhost";
const EVERY_LOOPBACK: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// The addresses of `localhost`, for [`Settings::hosts`](crate::Settings::hosts): a resolver is never asked. If the
/// instance listens on a loopback address, that one comes first.
pub fn localhost(listening: Option<IpAddr>) -> BTreeMap<String, Vec<IpAddr>> {
    let own = listening.filter(|ip| ip.is_loopback());
    let others = EVERY_LOOPBACK.into_iter().filter(|ip| Some(*ip) != own);
    [(
        LOCALHOST.to_owned(),
        own.into_iter().chain(others).collect(),
    )]
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localhost_is_either_loopback_and_first_the_one_that_is_listened_on() {
        let of = |listening: Option<&str>| {
            let listening = listening.map(|ip| ip.parse().unwrap());
            localhost(listening)[LOCALHOST].clone()
        };
        let [v4, v6] = EVERY_LOOPBACK;
        assert_eq!(of(None), [v4, v6]);
        assert_eq!(of(Some("::1")), [v6, v4]);
        assert_eq!(of(Some("0.0.0.0")), [v4, v6]);
        assert_eq!(of(Some("127.0.0.9")).len(), 3);
    }
}
