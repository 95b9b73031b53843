//! The address of a database: `postgres://USER@HOST/DATABASE`, with how to check the server's certificate.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use selfsame_store::{Result, StoreError};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use url::form_urlencoded;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// A server that does not acknowledge what was sent is given up after this time.
const SILENCE: Duration = Duration::from_secs(10);
const MAX_SCHEMA: usize = 63;

/// Where a database is, and as whom to sign in. It may hold a password, so `Debug` and `Display` show neither it nor
/// parameters.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) schema: String,
    pub(crate) encryption: Encryption,
}

/// Whether the connection is encrypted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Encryption {
    /// Not at all: the server is on this machine, or the address says `sslmode=disable`.
    Plain,
    /// With a server whose certificate is checked, against these authorities or the system's.
    Verified(Option<PathBuf>),
}

/// The parameters of an address that are ours. The others are the driver's.
#[derive(Default)]
struct Own {
    mode: Option<String>,
    authorities: Option<PathBuf>,
    schema: Option<String>,
}

impl Address {
    /// The schema of the records.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Parses a URL, `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE&schema=NAME`.
    ///
    /// Without `sslmode`, a server on this machine is called without TLS, and any other with TLS and a certificate that
    /// is checked. Several hosts may be given, separated by commas: the one that accepts writes is used.
    ///
    /// # Errors
    /// `Malformed`, with the part of the address that is wrong. The message never contains the address.
    pub fn parse(address: &str) -> Result<Self> {
        if !address.starts_with("postgres://") && !address.starts_with("postgresql://") {
            return Err(StoreError::Malformed(
                "address of the database: it must begin with postgres://",
            ));
        }
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let mut own = Own::default();
        let mut rest = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "sslmode" => own.mode = Some(value.into_owned()),
                "sslrootcert" => own.authorities = Some(PathBuf::from(value.into_owned())),
                "schema" => own.schema = Some(value.into_owned()),
                _ => drop(rest.append_pair(&name, &value)),
            }
        }
        let rest = rest.finish();
        let parsed = match rest.is_empty() {
            true => base.parse::<Config>(),
            false => format!("{base}?{rest}").parse::<Config>(),
        };
        let config = parsed.map_err(|_| {
            StoreError::Malformed(
                "address of the database: postgres://USER@HOST:PORT/DATABASE is expected",
            )
        })?;
        Self::of(config, own)
    }

    fn of(mut config: Config, own: Own) -> Result<Self> {
        if config.get_hosts().is_empty() {
            return Err(StoreError::Malformed(
                "address of the database: it names no host",
            ));
        }
        let is_local = config.get_hosts().iter().all(is_local);
        let encryption = encryption(&own, is_local)?;
        let schema = own.schema.unwrap_or_else(|| "selfsame".to_owned());
        if !is_name(&schema) {
            return Err(StoreError::Malformed(
                "address of the database: `schema` has lower-case letters, digits and underscores only",
            ));
        }
        config
            .application_name("selfsame")
            .connect_timeout(CONNECT)
            .keepalives_idle(SILENCE)
            .keepalives_interval(Duration::from_secs(2))
            .keepalives_retries(3)
            .tcp_user_timeout(SILENCE)
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .ssl_mode(match encryption {
                Encryption::Plain => SslMode::Disable,
                Encryption::Verified(_) => SslMode::Require,
            });
        Ok(Self {
            config,
            schema,
            encryption,
        })
    }

    /// The same address with this password.
    #[must_use]
    pub fn with_password(mut self, password: &[u8]) -> Self {
        self.config.password(password);
        self
    }
}

fn encryption(own: &Own, is_local: bool) -> Result<Encryption> {
    let verified = || Encryption::Verified(own.authorities.clone());
    match own.mode.as_deref() {
        Some("verify-full") => Ok(verified()),
        Some("disable") if own.authorities.is_none() => Ok(Encryption::Plain),
        Some("disable") => Err(StoreError::Malformed(
            "address of the database: `sslrootcert` needs sslmode=verify-full",
        )),
        None if is_local && own.authorities.is_none() => Ok(Encryption::Plain),
        None => Ok(verified()),
        Some(_) => Err(StoreError::Malformed(
            "address of the database: `sslmode` is verify-full or disable, since TLS without a checked certificate protects nothing",
        )),
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        #[cfg(unix)]
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
    }
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=MAX_SCHEMA).contains(&name.len())
        && name.bytes().all(fits)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.starts_with("pg_")
}

impl fmt::Display for Address {
    /// Hosts and database, without user, password and parameters.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("postgres://")?;
        for (place, host) in self.config.get_hosts().iter().enumerate() {
            if place > 0 {
                formatter.write_str(",")?;
            }
            match host {
                Host::Tcp(name) => formatter.write_str(name)?,
                #[cfg(unix)]
                Host::Unix(path) => write!(formatter, "{}", path.display())?,
            }
        }
        let database = self.config.get_dbname().unwrap_or_default();
        write!(formatter, "/{database}")
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str) -> String {
        Address::parse(address).unwrap_err().to_string()
    }

    #[test]
    fn a_server_elsewhere_is_called_with_tls_unless_the_address_says_otherwise() {
        let of = |address| Address::parse(address).unwrap().encryption;
        assert_eq!(of("postgres://me@db.example/x"), Encryption::Verified(None));
        assert_eq!(of("postgres://me@127.0.0.1/x"), Encryption::Plain);
        assert_eq!(of("postgres:///x?host=/run/postgresql"), Encryption::Plain);
        assert_eq!(
            of("postgres://me@db.example/x?sslmode=disable"),
            Encryption::Plain
        );
        let named = of("postgres://me@localhost/x?sslrootcert=/etc/ca%20one.pem");
        assert_eq!(named, Encryption::Verified(Some("/etc/ca one.pem".into())));
        let mixed = of("postgres://me@localhost,db.example/x");
        assert_eq!(mixed, Encryption::Verified(None));
    }

    #[test]
    fn tls_without_a_checked_certificate_is_refused() {
        for mode in ["require", "prefer", "allow", "verify-ca", ""] {
            let said = refused(&format!("postgres://me@db.example/x?sslmode={mode}"));
            assert!(said.contains("verify-full"), "{said}");
        }
    }

    #[test]
    fn nothing_that_is_shown_contains_the_password() {
        let address = Address::parse("postgres://me:s3cret@db.example:5433/cards").unwrap();
        assert_eq!(address.to_string(), "postgres://db.example/cards");
        let address = address.with_password(b"0ther");
        let shown = format!("{address:?}");
        assert!(
            !shown.contains("s3cret") && !shown.contains("0ther"),
            "{shown}"
        );
        for wrong in [
            "postgres://me:s3cret@db.example:port/x",
            "postgres://me:s3cret@db.example/x?unknown=1",
            "mysql://me:s3cret@db.example/x",
            "postgres://me:s3cret@db.example/x?schema=Robert%27",
        ] {
            let said = refused(wrong);
            assert!(!said.contains("s3cret"), "{said}");
        }
    }

    #[test]
    fn a_schema_is_a_plain_name() {
        for wrong in ["", "A", "1st", "pg_x", "a-b", "a\"b", &"a".repeat(64)] {
            assert!(!is_name(wrong), "{wrong}");
        }
        assert!(is_name("selfsame_2"));
    }
}
