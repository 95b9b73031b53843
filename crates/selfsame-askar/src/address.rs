//! The address of a wallet: a file, or a database of a PostgreSQL server.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use selfsame_crypto::SecretString;
use tokio_postgres::config::Host;

use crate::error::WalletError;

/// Where a wallet is. Not shown as a whole: it may contain a password.
#[derive(Clone)]
pub struct WalletAddress(pub(crate) WalletPlace);

#[derive(Clone)]
pub(crate) enum WalletPlace {
    File(PathBuf),
    Postgres(Box<PostgresPlace>),
}

/// A database, and the schema in it.
#[derive(Clone)]
pub(crate) struct PostgresPlace {
    pub config: tokio_postgres::Config,
    pub schema: Option<String>,
}

/// What Askar has in such an address for itself; reading does not need it.
const OF_ASKAR: [&str; 6] = [
    "admin_account",
    "admin_password",
    "idle_timeout",
    "max_connections",
    "min_connections",
    "statement-cache-capacity",
];

const ADDRESS_BYTES_MAX: usize = 8192;

impl WalletAddress {
    /// The same address with this password, if it names a server and has no password. So the password need not be
    /// where other users of the machine see it.
    #[must_use]
    pub fn or_password(mut self, password: &SecretString) -> Self {
        if let WalletPlace::Postgres(place) = &mut self.0
            && place.config.get_password().is_none()
        {
            place.config.password(password.expose());
        }
        self
    }
}

impl FromStr for WalletAddress {
    type Err = WalletError;

    /// Reads the path of a file, `sqlite://` with one, or `postgres://`, as Askar and its agents write them.
    fn from_str(text: &str) -> Result<Self, WalletError> {
        if text.len() > ADDRESS_BYTES_MAX || text.contains('\0') {
            return Err(WalletError::Address("it is too long, or has a null byte"));
        }
        if let Some(rest) = text.strip_prefix("sqlite:") {
            let path = rest.split(['?', '#']).next().unwrap_or_default();
            let path = path.strip_prefix("//").unwrap_or(path);
            return file(&decoded(path)?);
        }
        if text.starts_with("postgres:") || text.starts_with("postgresql:") {
            return postgres(text);
        }
        match text.contains("://") {
            true => Err(WalletError::Address("it is neither sqlite nor postgres")),
            false => file(text),
        }
    }
}

fn file(path: &str) -> Result<WalletAddress, WalletError> {
    match path {
        "" => Err(WalletError::Address("it names no file")),
        ":memory:" => Err(WalletError::Address("it is in the memory of its agent")),
        _ => Ok(WalletAddress(WalletPlace::File(PathBuf::from(path)))),
    }
}

fn postgres(text: &str) -> Result<WalletAddress, WalletError> {
    let (base, query) = text.split_once('?').unwrap_or((text, ""));
    let mut base = base.to_owned();
    let mut schema = None;
    let mut may_be_open = false;
    let mut kept = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "schema" => schema = Some(decoded(value)?),
            "sslmode" if !["disable", "allow", "prefer"].contains(&value) => return Err(no_tls()),
            "sslmode" => may_be_open = value == "disable",
            "host" => {
                base = without_host(&base);
                kept.push(pair);
            }
            _ if OF_ASKAR.contains(&name) => {}
            _ => kept.push(pair),
        }
    }
    kept.push("sslmode=disable");
    let address = format!("{base}?{}", kept.join("&"));
    let mut config = tokio_postgres::Config::from_str(&address)
        .map_err(|_| WalletError::Address("it is not one of PostgreSQL"))?;
    if config.get_dbname().is_none() {
        return Err(WalletError::Address("it names no database"));
    }
    if !may_be_open && !config.get_hosts().iter().all(is_here) {
        return Err(no_tls());
    }
    config.application_name("selfsame");
    let place = PostgresPlace { config, schema };
    Ok(WalletAddress(WalletPlace::Postgres(Box::new(place))))
}

/// A password and tags in plaintext do not cross a network by accident.
fn no_tls() -> WalletError {
    WalletError::Unsupported(
        "TLS to a PostgreSQL server; lead the connection through a tunnel, or allow one without it with sslmode=disable"
            .to_owned(),
    )
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address: Option<IpAddr> = name.parse().ok();
            name == "localhost" || address.is_some_and(|address| address.is_loopback())
        }
    }
}

/// A host in the query, such as the folder of a socket, replaces the one before the path. Its port goes too: another
/// one is in the query.
fn without_host(base: &str) -> String {
    let (scheme, rest) = base.split_once("//").unwrap_or((base, ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let user = authority
        .rsplit_once('@')
        .map(|(user, _)| format!("{user}@"));
    format!("{scheme}//{}/{path}", user.unwrap_or_default())
}

/// Decodes `%` and two hexadecimal digits.
fn decoded(text: &str) -> Result<String, WalletError> {
    let wrong = || WalletError::Address("a `%` in it has no two hexadecimal digits after it");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
        let value = high.saturating_mul(16).saturating_add(low);
        bytes.push(u8::try_from(value).map_err(|_| wrong())?);
    }
    String::from_utf8(bytes).map_err(|_| WalletError::Address("it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> PathBuf {
        match text.parse::<WalletAddress>().map(|address| address.0) {
            Ok(WalletPlace::File(path)) => path,
            _ => panic!("{text} is a file"),
        }
    }

    #[test]
    fn a_file_is_named_by_its_path_or_as_the_agent_names_it() {
        for (text, expected) in [
            ("wallet.db", "wallet.db"),
            ("/var/wallet.db", "/var/wallet.db"),
            ("sqlite:///var/wallet.db", "/var/wallet.db"),
            ("sqlite://wallet.db", "wallet.db"),
            ("sqlite:wallet.db?cache=shared", "wallet.db"),
            ("sqlite:///var/my%20wallet.db", "/var/my wallet.db"),
        ] {
            assert_eq!(path(text), PathBuf::from(expected));
        }
    }

    #[test]
    fn a_database_is_named_as_the_agent_names_it_with_what_is_for_askar_alone() {
        let text = "postgres://user:pass@127.0.0.1:5433/wallets?schema=one&max_connections=5&admin_account=x&connect_timeout=3";
        let Ok(WalletAddress(WalletPlace::Postgres(place))) = text.parse() else {
            panic!("it is an address");
        };
        assert_eq!(place.schema.as_deref(), Some("one"));
        assert_eq!(place.config.get_dbname(), Some("wallets"));
        assert_eq!(place.config.get_user(), Some("user"));
        assert_eq!(place.config.get_ports(), [5433]);
    }

    #[test]
    fn a_host_in_the_query_replaces_the_one_before_the_path() {
        let text = "postgres://user:p%40ss@localhost:1/db?host=/run/postgresql&port=5433";
        let Ok(WalletAddress(WalletPlace::Postgres(place))) = text.parse() else {
            panic!("it is an address");
        };
        let socket = Host::Unix("/run/postgresql".into());
        assert_eq!(place.config.get_hosts(), [socket]);
        assert_eq!(place.config.get_ports(), [5433]);
        assert_eq!(place.config.get_password(), Some(&b"p@ss"[..]));
    }

    #[test]
    fn a_password_from_elsewhere_does_not_replace_the_one_in_the_address() {
        for (text, expected) in [
            ("postgres://user@localhost/db", "other"),
            ("postgres://user:own@localhost/db", "own"),
        ] {
            let Ok(address) = text.parse::<WalletAddress>() else {
                panic!("it is an address");
            };
            let WalletPlace::Postgres(place) = address.or_password(&"other".into()).0 else {
                panic!("it is a server");
            };
            assert_eq!(place.config.get_password(), Some(expected.as_bytes()));
        }
    }

    #[test]
    fn other_addresses_are_refused() {
        let long = "x".repeat(ADDRESS_BYTES_MAX + 1);
        for text in [
            "",
            "sqlite://",
            "sqlite://:memory:",
            "sqlite://a%2",
            "sqlite://a%ff",
            "mysql://host/db",
            "postgres://host:port/db",
            "postgres://host",
            "postgres://host/db?unknown=1",
            "a\0b",
            &long,
        ] {
            let refused = text.parse::<WalletAddress>().err();
            assert!(matches!(refused, Some(WalletError::Address(_))), "{text}");
        }
    }

    #[test]
    fn tls_is_not_left_out_silently() {
        for text in [
            "postgres://localhost/db?sslmode=require",
            "postgres://db.example/db",
            "postgres://192.0.2.1/db?sslmode=prefer",
            "postgres://localhost/db?host=db.example",
        ] {
            let refused = text.parse::<WalletAddress>().err();
            assert!(
                matches!(refused, Some(WalletError::Unsupported(_))),
                "{text}"
            );
        }
        for text in [
            "postgres://localhost/db",
            "postgres://[::1]/db",
            "postgres://db.example/db?host=/run/postgresql",
            "postgres://db.example/db?sslmode=disable",
        ] {
            assert!(text.parse::<WalletAddress>().is_ok(), "{text}");
        }
    }
}
