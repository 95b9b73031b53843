//! The settings file, and the certificate and key files that it names.

mod limits;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use selfsame_acapy::AgentSection;
use selfsame_acme::AcmeSettings;
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, TrustConfig};
use selfsame_identity::config::SignInConfig;
use selfsame_network::files::trust_root;
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_settings::files::{self, beside};
use selfsame_settings::{
    AdminSettings, InstanceSettings, Pkcs11Settings, RegistrySettings, SetNames, certified,
};
use selfsame_terminal::exit::Failure;
use selfsame_tls_commands::peers::PeerRules;
use selfsame_tls_commands::{Hooks, NamedRegistry, ResolutionSettings};
use selfsame_vc_api::VcApiConfig;
use selfsame_wallet::config::WalletConfig;
use serde::Deserialize;
use url::Url;

use crate::database::DatabaseSettings;
use crate::private_directory;
use crate::traces::TracesSettings;

pub use limits::LimitSettings;

/// The settings in the file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `[instance]`.
    pub instance: InstanceSettings,
    /// `[admin]`.
    pub admin: AdminSettings,
    /// `[issuer]`.
    pub issuer: IssuerConfig,
    /// `[verifier]`.
    pub verifier: VerifierConfig,
    /// `[wallet]`.
    pub wallet: WalletConfig,
    /// `[sign_in]`.
    pub sign_in: SignInConfig,
    /// `[trust]`.
    pub trust: TrustConfig,
    /// `[resolver]`.
    pub resolver: ResolverConfig,
    /// `[vc_api]`.
    pub vc_api: VcApiConfig,
    /// `[organisations]`.
    pub organisations: OrganisationsConfig,
    /// `[database]`.
    pub database: Option<DatabaseSettings>,
    /// `[pkcs11]`.
    pub pkcs11: Option<Pkcs11Settings>,
    /// `[registry]`.
    pub registry: RegistrySettings,
    /// `[tls]`.
    pub tls: Option<TlsSettings>,
    /// `[health]`.
    pub health: HealthSettings,
    /// `[traces]`.
    pub traces: TracesSettings,
    /// `[limits]`.
    pub limits: LimitSettings,
    /// `[[agents]]`.
    pub agents: Vec<AgentSection>,
}

/// The second listener for health checks, besides the main one.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HealthSettings {
    /// The address of `/livez`, `/readyz` and `/metrics`, which are served on a separate thread.
    pub listen: Option<SocketAddr>,
}

/// How an instance connects with nodes that authenticate by DIDs and credentials.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The folder of the identity that it presents, as `selfsame tls identity` creates it. Without one, it is no node.
    pub identity: Option<PathBuf>,
    /// The certificate chain's file (PEM), for peers that accept no DID or credential.
    pub certificate: Option<PathBuf>,
    /// The file of its private key (PEM).
    pub certificate_key: Option<PathBuf>,
    /// The address that nodes connect to, if any.
    pub listen: Option<SocketAddr>,
    /// `[tls.clients]`: the clients to admit; names as in the options of `selfsame tls server`.
    #[serde(default)]
    pub clients: PeerRules,
    /// `[[tls.reach]]`: origins that are called with DIDs and credentials.
    #[serde(default)]
    pub reach: Vec<ReachSettings>,
    /// `[[tls.hosts]]`: certificates of the listener for further hosts.
    #[serde(default)]
    pub hosts: Vec<HostCertificate>,
    /// `[tls.acme]`: the authority that gives the listener's certificates.
    pub acme: Option<AcmeSettings>,
}

/// A certificate of the listener for further hosts.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCertificate {
    /// The hosts; `*.` in place of a first label stands for any one label.
    pub names: Vec<String>,
    /// The certificate chain's file (PEM).
    pub certificate: PathBuf,
    /// The file of its private key (PEM).
    pub certificate_key: PathBuf,
}

impl TlsSettings {
    /// Checks that what only a node has comes with an identity.
    fn is_complete(&self) -> Result<(), Failure> {
        let of_nodes = [
            ("certificate", self.certificate.is_some()),
            ("certificate_key", self.certificate_key.is_some()),
            ("listen", self.listen.is_some()),
            ("reach", !self.reach.is_empty()),
        ];
        match of_nodes.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) if self.identity.is_none() => Err(Failure::environment(format!(
                "[tls] {name} is for connections with nodes, which need an identity"
            ))
            .hint("name the folder that `selfsame tls identity` creates as [tls] identity; hosts of the listener are [[tls.hosts]]")),
            _ => Ok(()),
        }
    }
}

/// An origin that is called with DIDs and credentials in place of certificates.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReachSettings {
    /// Its https origin.
    pub origin: Url,
    /// The server to expect there; names as in the options of `selfsame tls client`.
    pub server: PeerRules,
}

/// What the program does with files for the TLS commands.
pub const HOOKS: Hooks = Hooks {
    read_settings: |path| Ok(Settings::read(path)?.resolution()),
    read_trust_root: |path| Ok(trust_root(path)?),
    take_directory: |path| Ok(private_directory::take(path)?),
};

impl Settings {
    /// How DIDs are resolved.
    fn resolution(self) -> ResolutionSettings {
        let named = || {
            let (nodes, pin) = (self.registry.nodes()?, self.registry.pin()?);
            Ok(NamedRegistry { nodes, pin })
        };
        ResolutionSettings {
            registry: named(),
            standstill: self.registry.standstill(),
            witnesses: self.registry.quorum(),
            trust: self.trust,
            resolver: self.resolver,
        }
    }

    /// Gives what the file does not name the values that the profiles of its roles need.
    fn complete(&mut self, set: &SetNames) {
        self.issuer.complete(|name| set.has("issuer", name));
        self.verifier.complete(|name| set.has("verifier", name));
        self.wallet.complete(|name| set.has("wallet", name));
    }

    /// Reads the file. Paths in it are relative to its directory.
    ///
    /// # Errors
    /// If it or a file that it names can't be read.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = files::text(path)?;
        files::no_key(path, &text)?;
        let mut settings: Self = toml::from_str(&text)
            .map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
        settings.complete(&SetNames::of(&text));
        let directory = path.parent().unwrap_or(Path::new(""));
        let trust = &mut settings.trust;
        let attesters = settings.issuer.attestation.attesters.iter_mut();
        let certificates = attesters.flat_map(|one| &mut one.certificates);
        let certificates = certificates.chain(&mut trust.certificates);
        for certificate in certificates.chain(&mut trust.authorities) {
            if let Some(file) = files::file(directory, certificate) {
                *certificate = files::text(&file)?;
            }
        }
        for context in &mut trust.contexts {
            context.file = files::text(&directory.join(&context.file))?;
        }
        let (issuer, verifier) = (&mut settings.issuer, &mut settings.verifier);
        let wallet = &mut settings.wallet;
        for (certificate, key) in [
            (&mut issuer.certificate, &mut issuer.certificate_key),
            (&mut verifier.certificate, &mut verifier.certificate_key),
            (&mut wallet.certificate, &mut wallet.certificate_key),
        ] {
            certified::read(directory, certificate, key)?;
        }
        settings.registry.relative_to(directory)?;
        settings.instance.relative_to(directory)?;
        if let Some(file) = &mut settings.traces.headers_file {
            *file = beside(directory, file)?;
        }
        let keys = settings.agents.iter_mut();
        for file in keys.flat_map(|agent| &mut agent.admin_api_key_file) {
            *file = beside(directory, file)?;
        }
        if let Some(tls) = &mut settings.tls {
            tls.is_complete()?;
            let own = tls.identity.iter_mut().chain(&mut tls.certificate);
            let hosts = tls.hosts.iter_mut();
            let hosts = hosts.flat_map(|host| [&mut host.certificate, &mut host.certificate_key]);
            for file in own.chain(&mut tls.certificate_key).chain(hosts) {
                *file = beside(directory, file)?;
            }
            if let Some(acme) = &mut tls.acme {
                acme.relative_to(directory);
            }
            tls.clients.relative_to(directory);
            for reach in &mut tls.reach {
                reach.server.relative_to(directory);
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use selfsame_driver::private_file;
    use selfsame_vc_api::VcApiFace;

    use super::*;

    fn settings(text: &str) -> (tempfile::TempDir, Result<Settings, Failure>) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(
            directory.path().join("chain.pem"),
            "-----BEGIN CERTIFICATE-----\nthe chain",
        )
        .unwrap();
        private_file::write(&directory.path().join("key.pem"), b"the key").unwrap();
        let path = directory.path().join("selfsame.toml");
        std::fs::write(&path, text).unwrap();
        let settings = Settings::read(&path);
        (directory, settings)
    }

    #[test]
    fn what_is_said_of_nodes_is_read_and_nothing_else_is_taken() {
        let text = "[tls]\nidentity = \"node\"\nlisten = \"127.0.0.1:7443\"\n\
                    certificate = \"chain.pem\"\ncertificate_key = \"key.pem\"\n\
                    [tls.clients]\ntrust_issuer = [\"did:web:a.example\"]\nexpect_anybody = true\n\
                    [[tls.reach]]\norigin = \"https://b.example/\"\n\
                    server = { trust_did = [\"did:web:b.example\"] }\n";
        let (directory, read) = settings(text);
        let tls = read.unwrap().tls.unwrap();
        assert_eq!(tls.identity, Some(directory.path().join("node")));
        assert_eq!(tls.certificate, Some(directory.path().join("chain.pem")));
        assert_eq!(tls.certificate_key, Some(directory.path().join("key.pem")));
        assert_eq!(tls.reach.len(), 1);
        let (_, read) = settings(&text.replace("expect_anybody", "expect_everybody"));
        assert!(read.is_err());
        let (_, read) = settings(&text.replace("identity = \"node\"\n", ""));
        let refused = read.err().unwrap();
        assert!(
            refused.message().contains("need an identity"),
            "{refused:?}"
        );
    }

    #[test]
    fn certificates_of_further_hosts_are_listed_without_an_identity() {
        let (directory, read) = settings(
            "[[tls.hosts]]\nnames = [\"id.clinic.example\"]\n\
             certificate = \"chain.pem\"\ncertificate_key = \"key.pem\"\n",
        );
        let tls = read.unwrap().tls.unwrap();
        assert!(tls.identity.is_none());
        assert_eq!(tls.hosts[0].names, ["id.clinic.example"]);
        let chain = directory.path().join("chain.pem");
        assert_eq!(tls.hosts[0].certificate, chain);
        let (_, read) = settings("[[tls.hosts]]\nnames = [\"id.clinic.example\"]\n");
        assert!(read.is_err());
    }

    #[test]
    fn contexts_are_read_from_beside_the_settings_with_their_digests() {
        let text = "[[trust.contexts]]\nurl = \"https://office.example/v1\"\n\
                    file = \"chain.pem\"\nsha256 = \"00\"\n";
        let (_directory, read) = settings(text);
        let read = read.unwrap().trust;
        assert!(read.contexts[0].file.ends_with("the chain"));
        assert_eq!(read.check().unwrap_err().reason.id(), "context-digest");
        let (_directory, read) = settings(&text.replace("sha256 = \"00\"\n", ""));
        assert!(read.is_err());
    }

    #[test]
    fn the_w3c_s_api_is_open_to_nobody_unless_it_says_so() {
        let (_directory, read) = settings("[vc_api]\nopen = [\"verify\"]\nunverified = 200\n");
        assert!(read.unwrap().vc_api.is_open(VcApiFace::Verify));
        let (_directory, read) = settings("[vc_api]\nopen = [\"everything\"]\n");
        assert!(read.is_err());
    }

    #[test]
    fn certificates_and_keys_are_read_from_beside_the_settings() {
        let (_directory, settings) = settings(
            "[verifier]\ncertificate = \"chain.pem\"\ncertificate_key = \"key.pem\"\n\
             [issuer]\ncertificate = \"chain.pem\"\ncertificate_key = \"key.pem\"\n\
             [trust]\ncertificates = [\"chain.pem\", \"-----BEGIN CERTIFICATE-----\\nin place\"]\n",
        );
        let settings = settings.ok().unwrap();
        let chain = Some("-----BEGIN CERTIFICATE-----\nthe chain");
        assert_eq!(settings.verifier.certificate.as_deref(), chain);
        assert_eq!(settings.issuer.certificate.as_deref(), chain);
        assert_eq!(
            settings.verifier.certificate_key.unwrap().expose(),
            "the key"
        );
        assert_eq!(settings.issuer.certificate_key.unwrap().expose(), "the key");
        assert_eq!(
            settings.trust.certificates[0],
            "-----BEGIN CERTIFICATE-----\nthe chain"
        );
        assert_eq!(
            settings.trust.certificates[1],
            "-----BEGIN CERTIFICATE-----\nin place"
        );
    }

    #[test]
    fn a_profile_sets_what_the_file_does_not_and_what_contradicts_it_is_refused() {
        let made = rcgen::generate_simple_self_signed(vec!["attester.example".to_owned()]);
        let attester = format!(
            "[[issuer.attestation.attesters]]\ncertificates = [\"\"\"{}\"\"\"]\n\
             [issuer.by_sign_in.staff]\nname = \"name\"\n",
            made.unwrap().cert.pem()
        );
        let read = |text: &str| {
            let text = format!("[issuer]\nprofile = \"haip\"\n{text}{attester}");
            let (_directory, settings) = settings(&text);
            settings.unwrap().issuer
        };
        let whole = read("");
        let names: Vec<&str> = whole.formats.iter().map(|one| one.as_str()).collect();
        assert_eq!(names, ["dc+sd-jwt", "mso_mdoc"]);
        assert!(whole.check().is_ok(), "{:?}", whole.check());
        let told = |text| read(text).check().unwrap_err().to_string();
        for (text, setting) in [
            ("formats = [\"vc+jwt\"]\n", "[issuer] formats"),
            ("identify_by = \"did\"\n", "[issuer] identify_by"),
            (
                "[issuer.attestation]\nwallets = \"allowed\"\n",
                "[issuer.attestation] wallets",
            ),
            (
                "[issuer.attestation]\nkeys = false\n",
                "[issuer.attestation] keys",
            ),
        ] {
            let told = told(text);
            assert!(
                told.contains(setting) && told.contains("HAIP 1.0 §"),
                "{told}"
            );
        }
        let (_directory, read) = settings("[verifier]\nprofile = \"haip\"\n");
        let verifier = read.unwrap().verifier;
        assert!(verifier.check().is_ok(), "{:?}", verifier.check());
        let text = "[verifier]\nprofile = \"haip\"\nresponse_mode = \"direct_post\"\n";
        let (_directory, read) = settings(text);
        assert!(read.unwrap().verifier.check().is_err());
        let (_directory, read) = settings("[wallet]\nprofile = \"haip\"\n");
        assert!(read.unwrap().wallet.check().is_err());
        assert!(settings("[issuer]\nprofile = \"other\"\n").1.is_err());
    }

    #[test]
    fn the_settings_of_the_documentation_are_read_and_are_the_defaults_but_for_addresses() {
        let text = include_str!("../../../docs/resolution.md");
        let block = text.split("```toml").nth(1).unwrap();
        let (_directory, settings) = settings(block.split("```").next().unwrap());
        let read = settings.ok().unwrap().resolver;
        assert_eq!(read.addresses().count(), 3);
        assert_eq!(read.universal_methods, ["ebsi", "ion"]);
        let default = ResolverConfig::default();
        assert_eq!(read.cheqd_network, default.cheqd_network);
        assert_eq!(
            (read.ttl, read.negative_ttl, read.timeout),
            (default.ttl, default.negative_ttl, default.timeout)
        );
        assert!(read.check(&TrustConfig::default()).is_ok());
    }

    /// The names that the parser lists as expected here.
    fn known(text: &str) -> BTreeSet<String> {
        let (_directory, read) = settings(text);
        let said = read.err().unwrap().message().to_owned();
        let (_, names) = said.split_once("expected ").unwrap();
        let names = names.lines().next().unwrap();
        names
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    }

    /// The tables' first and third columns, by the heading above.
    fn documented() -> Vec<(String, Vec<(String, String)>)> {
        let text = include_str!("../../../docs/settings.md");
        let sections = text.split("\n## `").skip(1).map(|section| {
            let heading = section.split('`').next().unwrap().to_owned();
            let rows = section.lines().filter(|line| line.starts_with("| `"));
            let rows = rows.map(|row| {
                let cells: Vec<&str> = row.split(" | ").collect();
                let name = cells[0].trim_start_matches("| ").trim_matches('`');
                (name.to_owned(), cells[2].trim_matches('`').to_owned())
            });
            (heading, rows.collect())
        });
        sections.collect()
    }

    #[test]
    fn the_reference_has_every_setting_and_no_other() {
        let documented = documented();
        let mut sections = BTreeSet::new();
        for (heading, rows) in &documented {
            sections.insert(heading.trim_matches(['[', ']']).to_owned());
            let names: BTreeSet<String> = rows.iter().map(|(name, _)| name.clone()).collect();
            assert_eq!(names.len(), rows.len(), "{heading}");
            assert_eq!(
                names,
                known(&format!("{heading}\nunknown = 1\n")),
                "{heading}"
            );
        }
        let top: BTreeSet<_> = sections.iter().filter(|name| !name.contains('.')).collect();
        assert_eq!(top, known("unknown = 1\n").iter().collect());
        for nested in ["registry.nodes", "tls.clients", "tls.reach"] {
            assert!(sections.contains(nested), "{nested}");
        }
    }

    #[test]
    fn the_reference_has_the_defaults() {
        // Lists of tables, and defaults given in words, can't be compared.
        let of = |heading: &str| {
            let documented = documented();
            let (_, rows) = documented
                .into_iter()
                .find(|(at, _)| at == heading)
                .unwrap();
            let told = rows.iter().filter(|(_, default)| default != "none");
            let told = told.map(|(name, default)| format!("{name} = {default}\n"));
            format!("{heading}\n{}", told.collect::<String>())
        };
        let text = [
            "[issuer]",
            "[verifier]",
            "[trust]",
            "[resolver]",
            "[registry]",
            "[limits]",
            "[wallet]",
            "[traces]",
        ]
        .map(of);
        let (_directory, read) = settings(&text.concat());
        let (read, default) = (read.ok().unwrap(), Settings::default());
        let shown = |read: &Settings| {
            let parts = (&read.issuer, &read.verifier, &read.trust, &read.resolver);
            let (limits, wallet, traces) = (&read.limits, &read.wallet, &read.traces);
            format!(
                "{parts:?} {limits:?} {wallet:?} {traces:?} {}",
                read.registry.standstill()
            )
        };
        assert_eq!(shown(&read), shown(&default));
        assert!(!read.registry.open_registration && read.registry.nodes().unwrap().is_empty());
    }

    #[test]
    fn a_setting_that_is_unknown_is_an_error() {
        for text in [
            "[resolver]\nmethods = [\"ion\"]\n",
            "[registry]\nregister = true\n",
            "[resolver]\ncheqd_network = \"devnet\"\n",
            "[resolver]\ncheqd = \"resolver.cheqd.net\"\n",
            "[verifier]\nclient_id_prefix = \"zzz\"\n",
        ] {
            let (_directory, settings) = settings(text);
            assert!(settings.is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_in_place_of_the_path_to_it_is_refused_and_not_shown() {
        let key = "-----BEGIN PRIVATE KEY-----\\nMIGHAgEAMBMG\\n-----END PRIVATE KEY-----";
        let lines = key.replace("\\n", "\n");
        let certificate = "-----BEGIN CERTIFICATE-----\\nMIGHAgEAMBMG";
        for text in [
            format!("[issuer]\ncertificate_key = \"\"\"{lines}\"\"\"\n"),
            format!("[verifier]\ncertificate_key = \"{key}\"\n"),
            // The parser's error would show this line.
            format!("[issuer]\nkey = \"{key}\"\n"),
            format!("[tls]\nidentity = \"node\"\ncertificate = \"{certificate}\"\n"),
            format!("[registry]\ntrust_root = \"{certificate}\"\n"),
        ] {
            let (_directory, read) = settings(&text);
            let failure = read.err().unwrap();
            let said = format!("{} {:?}", failure.message(), failure.what_to_do());
            assert_eq!(failure.code(), 2, "{said}");
            assert!(said.contains("a separate file"), "{said}");
            assert!(!said.contains("MIGHAgEA"), "{said}");
        }
    }

    #[test]
    fn a_file_without_an_end_is_refused() {
        let failure = Settings::read(Path::new("/dev/zero")).err().unwrap();
        assert!(failure.message().contains("too large"), "{failure:?}");
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        for section in ["issuer", "verifier"] {
            let text = format!("[{section}]\ncertificate_key = \"key.pem\"\n");
            let (directory, read) = settings(&text);
            assert!(read.is_ok(), "{section}");
            let key = directory.path().join("key.pem");
            std::fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
            let refused = Settings::read(&directory.path().join("selfsame.toml"));
            let failure = refused.err().unwrap();
            assert!(
                failure.message().contains("key.pem: other users"),
                "{failure:?}"
            );
            let hint = failure.what_to_do().unwrap();
            assert!(hint.contains("chmod 600"), "{hint}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        for text in [
            "[verifier]\ncertificate = \"absent.pem\"\n",
            "[issuer]\ncertificate_key = \"absent.pem\"\n",
            "[trust]\ncertificates = [\"absent.pem\"]\n",
        ] {
            let (_directory, settings) = settings(text);
            assert!(settings.is_err(), "{text}");
        }
    }
}
