//! Nodes with an X.509 certificate beside or in place of their identity, against rustls, which knows no DIDs or
//! credentials.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConnection, RootCertStore, ServerConnection, StreamOwned};

use crate::instance::free_port;
use crate::node::{Listening, PATIENCE, keyed};
use crate::proxy::figures;
use crate::rig::{World, run, selfsame, text};

const NAME: &str = "node.example.org";

/// An authority, and the files of two certificates that it issued.
struct Authority {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(folder: &Path) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap();
        fs::write(folder.join("root.pem"), root.pem()).unwrap();
        Self {
            folder: folder.to_owned(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Writes a certificate and its key under each of these names.
    fn certify(&self, names: &[&str]) {
        names.iter().for_each(|name| self.certify_one(name));
    }

    fn certify_one(&self, name: &str) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.at(name, "pem"), certificate.pem()).unwrap();
        fs::write(self.at(name, "key"), key.serialize_pem()).unwrap();
    }

    fn at(&self, name: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{name}.{kind}"))
    }

    /// Adds the options to present a certificate.
    fn shown(&self, name: &str, command: &mut Command) {
        command.arg("--certificate").arg(self.at(name, "pem"));
        command.arg("--certificate-key").arg(self.at(name, "key"));
    }

    /// Adds the options to accept certificates of this authority.
    fn trusted(&self, command: &mut Command) {
        command
            .arg("--trust-certificates")
            .arg(self.folder.join("root.pem"));
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_file(self.folder.join("root.pem"));
        roots.add(root.unwrap()).unwrap();
        roots
    }

    fn own(&self, name: &str) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let certificate = CertificateDer::from_pem_file(self.at(name, "pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(self.at(name, "key")).unwrap();
        (vec![certificate], key)
    }

    /// A rustls client that presents this certificate or none.
    fn client(
        &self,
        to: SocketAddr,
        shown: Option<&str>,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        self.client_of(to, shown, &[])
    }

    /// A rustls client that offers these protocols.
    fn client_of(
        &self,
        to: SocketAddr,
        shown: Option<&str>,
        protocols: &[&[u8]],
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let builder = rustls::ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(self.roots());
        let mut config = match shown {
            Some(name) => {
                let (chain, key) = self.own(name);
                builder.with_client_auth_cert(chain, key).unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let name = NAME.try_into().unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(connection, connected(to))
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn connected(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn tls(arguments: &[&str]) -> Command {
    let mut command = selfsame();
    command.arg("tls").args(arguments);
    command
}

#[test]
fn a_server_shows_its_did_to_who_asks_for_it_and_its_certificate_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let authority = Authority::new(folder.path());
    authority.certify(&["server", "guest"]);
    let (own, guest) = (keyed(&at("own")), keyed(&at("node")));
    let mut server = tls(&["server", "--json", "--echo", "--listen", "127.0.0.1:0"]);
    authority.shown("server", &mut server);
    authority.trusted(&mut server);
    server.args(["--trust-did", &guest, "--identity"]);
    let server = Listening::start(server.arg(at("own")));

    let mut node = tls(&["client", &server.address.to_string(), "--json"]);
    node.args(["--trust-did", &own, "--identity"]);
    let (code, printed, complaints) = run(node.arg(at("node")));
    assert_eq!(code, 0, "{printed}{complaints}");
    let met: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&met["by"], text(&met, "did")), (&"did".into(), own));
    assert_eq!(text(&server.tells(), "did"), guest);

    let mut plain = authority.client(server.address, Some("guest"));
    plain.write_all(b"hello").unwrap();
    let mut answer = [0; 5];
    plain.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"hello");
    plain.conn.send_close_notify();
    plain.flush().unwrap();
    drop(plain);
    assert_eq!(text(&server.tells(), "by"), "certificate");

    // A client without a certificate is still refused.
    let mut nobody = authority.client(server.address, None);
    let _ = nobody.write_all(b"hello");
    assert!(nobody.read_exact(&mut answer).is_err());
    assert_eq!(server.tells()["accepted"], false);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_server_with_a_certificate_alone_meets_a_client_with_a_did() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    authority.certify(&["server"]);
    let guest = keyed(&folder.path().join("node"));
    let mut server = tls(&["server", "--json", "--listen", "127.0.0.1:0"]);
    authority.shown("server", &mut server);
    let server = Listening::start(server.args(["--trust-did", &guest]));
    let client = |name: &str| {
        let mut client = tls(&["client", &server.address.to_string(), "--json"]);
        authority.trusted(&mut client);
        client.args(["--server-name", name, "--identity"]);
        run(client.arg(folder.path().join("node")))
    };
    let (code, printed, complaints) = client(NAME);
    assert_eq!(code, 0, "{printed}{complaints}");
    assert!(printed.contains("\"by\":\"certificate\""), "{printed}");
    let met = server.tells();
    assert_eq!((text(&met, "by"), text(&met, "did")), ("did".into(), guest));
    assert_eq!(client("other.example.org").0, 1);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_client_shows_its_certificate_to_a_server_that_takes_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    authority.certify(&["server", "guest"]);
    let (chain, key) = authority.own("server");
    let verifier =
        WebPkiClientVerifier::builder_with_provider(authority.roots().into(), provider());
    let config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = std::thread::spawn(move || {
        let mut seen = Vec::new();
        for _ in 0..2 {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let stream = listener.accept().unwrap().0;
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let ended = stream.read_to_end(&mut Vec::new());
            stream.conn.send_close_notify();
            let _ = stream.flush();
            let shown = stream.conn.peer_certificates().map(<[_]>::len);
            seen.push(shown.filter(|_| ended.is_ok()));
        }
        seen
    });
    let client = |shows: bool| {
        let mut client = tls(&["client", &address, "--json", "--server-name", NAME]);
        authority.trusted(&mut client);
        if shows {
            authority.shown("guest", &mut client);
        }
        run(&mut client)
    };
    let (code, printed, complaints) = client(true);
    assert_eq!(code, 0, "{printed}{complaints}");
    assert_eq!(client(false).0, 1);
    assert_eq!(serving.join().unwrap(), [Some(1), None]);
}

#[test]
fn an_instance_shows_its_certificate_to_who_knows_no_other_way() {
    let port = free_port();
    let mut authority = None;
    let _world = World::prepared(&[], |folder, _| {
        let made = Authority::new(folder);
        made.certify(&["server", "guest"]);
        authority = Some(made);
        keyed(&folder.join("own"));
        format!(
            "[tls]\nlisten = \"127.0.0.1:{port}\"\nidentity = \"own\"\ncertificate = \"server.pem\"\n\
             certificate_key = \"server.key\"\n[tls.clients]\ntrust_certificates = \"root.pem\"\n"
        )
    });
    let authority = authority.unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut client = authority.client(address, Some("guest"));
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).unwrap();
    let mut answer = [0; 9];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 ");
}

#[test]
fn a_certificate_that_can_t_be_shown_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    authority.certify(&["one", "other"]);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("empty"), "").unwrap();
    let did = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
    for (chain, key, words) in [
        ("one.pem", "other.key", "does not belong"),
        ("empty", "one.key", "contains no certificate"),
        ("one.pem", "empty", "private key"),
        ("absent", "one.key", "absent"),
        ("one.pem", "absent", "absent"),
    ] {
        let mut server = tls(&["server", "--listen", "127.0.0.1:0", "--trust-did", did]);
        server.arg("--certificate").arg(at(chain));
        server.arg("--certificate-key").arg(at(key));
        let (code, _, complaints) = run(&mut server);
        assert_eq!(code, 2, "{complaints}");
        assert!(
            complaints.contains(words) && complaints.contains("--certificate-key"),
            "{complaints}"
        );
    }
    let mut half = tls(&["server", "--listen", "127.0.0.1:0", "--trust-did", did]);
    let (code, _, complaints) = run(half.arg("--certificate").arg(at("one.pem")));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("--certificate-key"), "{complaints}");
}

/// A service that records what it received up to the first of these bytes, and then echoes.
fn listening_service() -> (SocketAddr, std::sync::mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut all = Vec::new();
            let mut chunk = [0; 4096];
            while !all.ends_with(b"hello") {
                match stream.read(&mut chunk) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => all.extend_from_slice(&chunk[..count]),
                }
            }
            stream.write_all(b"heard").unwrap();
            sender.send(all).unwrap();
        }
    });
    (address, heard)
}

fn says_hello(stream: &mut StreamOwned<ClientConnection, TcpStream>) {
    stream.write_all(b"hello").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"heard");
}

#[test]
fn the_service_behind_a_proxy_is_told_whose_certificate_it_was_and_so_is_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    authority.certify(&["server", "guest"]);
    let (service, heard) = listening_service();
    let mut proxy = tls(&["proxy", "--json", "--listen", "127.0.0.1:0"]);
    proxy.args(["--to", &service.to_string(), "--tell", "proxy-v2"]);
    proxy.args(["--metrics", "127.0.0.1:0"]);
    authority.shown("server", &mut proxy);
    authority.trusted(&mut proxy);
    let proxy = Listening::start(&mut proxy);
    let mut client = authority.client(proxy.address, Some("guest"));
    says_hello(&mut client);
    let guest = authority.own("guest").0;
    let digest = selfsame_crypto::hash::sha256(&guest[0]);
    let all = heard.recv_timeout(PATIENCE).unwrap();
    assert!(all.starts_with(b"\r\n\r\n\0\r\nQUIT\n\x21\x11"), "{all:?}");
    assert!(all.windows(32).any(|window| window == digest), "{all:?}");
    client.conn.send_close_notify();
    client.flush().unwrap();
    drop(client);
    let told = proxy.tells();
    let shown = &told["certificate"];
    let hex = selfsame_crypto::encoding::hex_encode(&digest);
    assert_eq!(text(shown, "sha256"), hex, "{told}");
    assert_eq!(shown["names"][0], format!("dns:{NAME}"), "{told}");
    let figures = figures(&proxy);
    let counted = figures
        .lines()
        .find(|line| line.starts_with("selfsame_tls_peers_total{by=\"certificate\",peer=\""));
    let subject = text(shown, "subject");
    let line = counted.unwrap_or_else(|| panic!("{figures}"));
    assert!(line.contains(&subject) && line.ends_with(" 1"), "{line}");
}

#[test]
fn a_client_that_has_certificates_alone_is_refused_where_dids_are_wanted_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    authority.certify(&["server", "guest"]);
    let expected = keyed(&folder.path().join("expected"));
    let mut server = tls(&["server", "--json", "--listen", "127.0.0.1:0"]);
    server.args(["--trust-did", &expected]);
    authority.shown("server", &mut server);
    let server = Listening::start(&mut server);
    let mut client = authority.client(server.address, Some("guest"));
    assert!(client.write_all(b"hello").is_err());
    let told = server.tells();
    assert_eq!(told["accepted"], false, "{told}");
    let hint = text(&told, "hint");
    assert!(hint.contains("--trust-certificates"), "{told}");
    assert!(hint.contains("--anonymous-clients"), "{told}");
}

#[test]
fn a_proxy_serves_clients_that_show_nothing_where_it_is_told_to_and_speaks_their_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    authority.certify(&["server"]);
    let (service, heard) = listening_service();
    let start = |more: &[&str]| {
        let mut proxy = tls(&["proxy", "--json", "--listen", "127.0.0.1:0"]);
        proxy.args(["--to", &service.to_string()]).args(more);
        authority.shown("server", &mut proxy);
        Listening::start(&mut proxy)
    };
    let proxy = start(&[
        "--anonymous-clients",
        "--alpn",
        "h2",
        "--groups",
        "secp256r1",
    ]);
    let mut client = authority.client_of(proxy.address, None, &[b"h2", b"http/1.1"]);
    says_hello(&mut client);
    assert_eq!(heard.recv_timeout(PATIENCE).unwrap(), b"hello");
    assert_eq!(client.conn.alpn_protocol(), Some(&b"h2"[..]));
    let group = client.conn.negotiated_key_exchange_group().unwrap().name();
    assert_eq!(group, rustls::NamedGroup::secp256r1);
    // Another protocol is refused.
    let mut other = authority.client_of(proxy.address, None, &[b"mqtt"]);
    assert!(
        other
            .write_all(b"hello")
            .and(other.read(&mut [0; 1]))
            .is_err()
    );
}
