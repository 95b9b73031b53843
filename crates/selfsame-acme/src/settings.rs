//! `[tls.acme]`: the authority that gives the listener's certificates, and what is wrong in the section.

use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use instant_acme::{ExternalAccountKey, LetsEncrypt};
use selfsame_crypto::encoding::base64url_decode;
use selfsame_driver::{Reason, private_file};
use selfsame_http::tls::Tls;
use selfsame_terminal::exit::Failure;
use serde::Deserialize;
use url::{Host, Url};

/// The longest name of a host, in bytes (RFC 1035 §2.3.4).
const HOST_MAX: usize = 253;
/// The longest file of certificates, in bytes.
const FILE_MAX: u64 = 1_000_000;
/// The most hosts that can be listed.
const HOSTS_MAX: usize = 100;
/// What is wrong if the listener has another certificate too.
pub const TWO_SOURCES: &str = "[tls.acme] gives the listener its certificate, and another one is named (--tls-certificate or --tls-self-made): leave out one of them";
const TERMS: &str = "read the terms of service of the authority, then set terms_agreed = true; those of Let's Encrypt: https://letsencrypt.org/repository/";
const EXTERNAL: &str = "set account_key_id to the identifier that the authority gave you, and account_key_file to a file (chmod 600) with the key in base64url";

/// How an authority gives the listener's certificates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcmeSettings {
    /// Whether the operator agrees to the authority's terms of service.
    #[serde(default)]
    pub terms_agreed: bool,
    /// The authority's directory.
    #[serde(default = "lets_encrypt")]
    pub directory: String,
    /// Whom the authority writes to: `mailto:` addresses.
    #[serde(default)]
    pub contact: Vec<String>,
    /// Further hosts beside the instance's own; those of organisations if there are none here.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The address of a listener without TLS, which answers the authority and leads everyone else to https.
    pub listen: Option<SocketAddr>,
    /// The file (PEM) of the authority that vouches for the directory, in place of those that the system trusts.
    pub root: Option<PathBuf>,
    /// The identifier of the account that the operator has with the authority already (RFC 8555 §7.3.4).
    pub account_key_id: Option<String>,
    /// The file with the key of that account, in base64url.
    pub account_key_file: Option<PathBuf>,
}

impl AcmeSettings {
    /// The file of the settings is in this folder, and its paths are relative to it.
    pub fn relative_to(&mut self, folder: &Path) {
        for file in self.root.iter_mut().chain(&mut self.account_key_file) {
            *file = folder.join(&*file);
        }
    }

    /// What is wrong in the section of an instance at this origin, if that is known.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, origin: Option<&Url>) -> Result<(), Failure> {
        if !self.terms_agreed {
            return Err(fault("terms_agreed", "must be true").hint(TERMS));
        }
        self.directory()?;
        if let Some(wrong) = self.contact.iter().find(|contact| !is_contact(contact)) {
            let what = format!("`{wrong}` is not a `mailto:` URL with one address");
            return Err(
                fault("contact", &what).hint("contact = [\"mailto:operator@clinic.example\"]")
            );
        }
        self.check_hosts(origin)?;
        self.roots()?;
        self.external()?;
        Ok(())
    }

    /// The URL of the authority's directory.
    pub(crate) fn directory(&self) -> Result<Url, Failure> {
        let parsed = Url::parse(&self.directory).ok().filter(|url| {
            url.scheme() == "https" && url.username().is_empty() && url.password().is_none()
        });
        parsed.ok_or_else(|| {
            fault("directory", "must be an https URL without a user name")
                .hint(format!("directory = \"{}\"", lets_encrypt()))
        })
    }

    /// What is wrong in the section of an instance that has another certificate, or none.
    ///
    /// # Errors
    /// The first fault.
    pub fn check_beside(&self, has_another: bool, origin: Option<&Url>) -> Result<(), Failure> {
        match has_another {
            true => Err(Failure::environment(TWO_SOURCES)),
            false => self.check(origin),
        }
    }

    fn check_hosts(&self, origin: Option<&Url>) -> Result<(), Failure> {
        if self.hosts.len() > HOSTS_MAX {
            return Err(fault("hosts", &format!("more than {HOSTS_MAX}")));
        }
        if let Some(wrong) = self.hosts.iter().find(|host| !is_orderable(host)) {
            let what = format!("`{wrong}` is not the name of one host in lower case");
            return Err(fault("hosts", &what)
                .hint("name each host; a name with a star is proven by DNS, which the instance does not change"));
        }
        let Some(origin) = origin else {
            return Ok(());
        };
        let is_served = origin.scheme() == "https" && origin.host_str().is_some_and(is_orderable);
        match is_served {
            true => Ok(()),
            false => Err(Failure::environment(format!(
                "[tls.acme] needs an https origin whose host has a name in the DNS, and this is {origin}"
            ))
            .hint("set --origin, or origin under [instance], to the instance's public https URL")),
        }
    }

    /// The certificates (DER) of the authorities that vouch for the directory; none for those of the system.
    pub(crate) fn roots(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(file) = &self.root else {
            return Ok(Vec::new());
        };
        let shown = file.display();
        let content = content(file).map_err(|error| fault("root", &format!("{shown}: {error}")))?;
        let roots = Tls::certificates_of(&content);
        let roots = roots.map_err(|error| fault("root", &format!("{shown}: {error}")))?;
        match roots.is_empty() {
            true => Err(fault("root", &format!("{shown} has no certificate in PEM"))),
            false => Ok(roots),
        }
    }

    /// The key of the account that the operator has already.
    pub(crate) fn external(&self) -> Result<Option<ExternalAccountKey>, Failure> {
        match (&self.account_key_id, &self.account_key_file) {
            (None, None) => Ok(None),
            (Some(id), Some(file)) => {
                let text = private_file::read(file, Reason::text(EXTERNAL))?;
                // Authorities print the key with and without padding.
                let key = base64url_decode(text.expose().trim_end_matches('='));
                let key = key.map_err(|_| {
                    let what = format!("{} is not base64url", file.display());
                    fault("account_key_file", &what).hint(EXTERNAL)
                })?;
                Ok(Some(ExternalAccountKey::new(id.clone(), &key)))
            }
            (Some(_), None) => {
                Err(fault("account_key_id", "needs account_key_file").hint(EXTERNAL))
            }
            (None, Some(_)) => {
                Err(fault("account_key_file", "needs account_key_id").hint(EXTERNAL))
            }
        }
    }
}

/// Whether a certificate can be ordered for this host: a name with a dot, in lower case, without a star.
pub(crate) fn is_orderable(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_letter =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_letter)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // RFC 6761 §6.3: names below `localhost` are not in the DNS.
    let is_local = host.ends_with(".localhost");
    // The URL parser takes numbers for addresses.
    let is_name = matches!(Host::parse(host), Ok(Host::Domain(name)) if name == host);
    host.len() <= HOST_MAX
        && host.contains('.')
        && host.split('.').all(is_label)
        && is_name
        && !is_local
}

/// RFC 8555 §7.3: an authority refuses `mailto:` URLs with header fields or several addresses.
fn is_contact(contact: &str) -> bool {
    let Some((local, domain)) = contact
        .strip_prefix("mailto:")
        .and_then(|address| address.split_once('@'))
    else {
        return false;
    };
    let is_plain = |part: &str| {
        let mut bytes = part.bytes();
        !part.is_empty() && bytes.all(|byte| byte.is_ascii_graphic() && !b",?&@%".contains(&byte))
    };
    is_plain(local) && is_plain(domain)
}

fn lets_encrypt() -> String {
    LetsEncrypt::Production.url().to_owned()
}

/// The content of a file, which a device or a log may be by mistake.
fn content(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut opened = std::fs::File::open(file)?.take(FILE_MAX.saturating_add(1));
    opened.read_to_end(&mut content)?;
    match content.len() as u64 > FILE_MAX {
        true => Err(std::io::Error::other("the file is too large")),
        false => Ok(content),
    }
}

fn fault(setting: &str, what: &str) -> Failure {
    Failure::environment(format!("[tls.acme] {setting}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "terms_agreed = true\n";

    fn read(text: &str) -> AcmeSettings {
        toml::from_str(text).unwrap()
    }

    fn checked(text: &str) -> Result<(), String> {
        let origin = Url::parse("https://id.clinic.example/").unwrap();
        let checked = read(text).check(Some(&origin));
        checked.map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn the_terms_alone_are_enough_and_lets_encrypt_is_asked() {
        assert_eq!(checked(GOOD), Ok(()));
        let directory = read(GOOD).directory().unwrap();
        assert_eq!(
            directory.as_str(),
            "https://acme-v02.api.letsencrypt.org/directory"
        );
        assert!(checked("").unwrap_err().contains("terms_agreed"));
    }

    #[test]
    fn a_section_with_a_fault_is_refused_with_the_setting_at_fault() {
        for (line, named) in [
            ("directory = \"http://ca.example/directory\"", "directory"),
            ("directory = \"ca.example\"", "directory"),
            (
                "directory = \"https://me@ca.example/directory\"",
                "directory",
            ),
            ("contact = [\"operator@clinic.example\"]", "contact"),
            ("contact = [\"mailto:a@b.example,c@d.example\"]", "contact"),
            ("contact = [\"mailto:a@b.example?subject=x\"]", "contact"),
            ("contact = [\"mailto:@b.example\"]", "contact"),
            ("hosts = [\"*.clinic.example\"]", "hosts"),
            ("hosts = [\"ID.clinic.example\"]", "hosts"),
            ("hosts = [\"192.0.2.1\"]", "hosts"),
            ("hosts = [\"id.clinic.example:443\"]", "hosts"),
            ("hosts = [\"localhost\"]", "hosts"),
            ("root = \"/nowhere/ca.pem\"", "/nowhere/ca.pem"),
            ("account_key_id = \"1\"", "account_key_id"),
            ("account_key_file = \"/nowhere/key\"", "account_key_file"),
            (
                "account_key_id = \"1\"\naccount_key_file = \"/nowhere/key\"",
                "/nowhere/key",
            ),
        ] {
            let refused = checked(&format!("{GOOD}{line}\n")).unwrap_err();
            assert!(refused.contains(named), "{line}: {refused}");
        }
        assert!(toml::from_str::<AcmeSettings>("terms = true").is_err());
    }

    #[test]
    fn an_instance_needs_a_name_that_an_authority_can_look_up() {
        for origin in [
            "http://id.clinic.example/",
            "https://localhost:7380/",
            "https://192.0.2.1/",
            "https://[::1]/",
            "https://id.clinic.localhost/",
        ] {
            let origin = Url::parse(origin).unwrap();
            assert!(read(GOOD).check(Some(&origin)).is_err(), "{origin}");
        }
        assert!(read(GOOD).check(None).is_ok(), "an option may name it");
    }

    #[test]
    fn the_key_of_an_account_that_exists_is_read_from_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let section = format!("{GOOD}account_key_id = \"kid-1\"\naccount_key_file = \"key\"\n");
        let opened = |content: &[u8]| {
            // A private file takes no other's place.
            let _ = std::fs::remove_file(&file);
            private_file::write(&file, content).unwrap();
            let mut settings = read(&section);
            settings.relative_to(folder.path());
            settings.check(None)
        };
        assert!(opened(b"AAECAwQFBgcICQoLDA0ODw==\n").is_ok());
        assert!(opened(b"AAECAwQFBgcICQoLDA0ODw").is_ok());
        let refused = opened(b"not base64url!").unwrap_err();
        assert!(!refused.message().contains("not base64url!"), "{refused:?}");
    }

    #[test]
    fn the_root_of_a_private_authority_is_read_from_a_file_beside_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let section = format!("{GOOD}root = \"ca.pem\"\n");
        let mut settings = read(&section);
        settings.relative_to(folder.path());
        let made = Tls::self_made("ca.example").unwrap();
        for (content, count) in [
            (made.certificate_pem.as_str(), Some(1)),
            ("", None),
            ("x", None),
        ] {
            std::fs::write(folder.path().join("ca.pem"), content).unwrap();
            let roots = settings.roots().ok().map(|roots| roots.len());
            assert_eq!(roots, count, "{content}");
        }
    }
}
