//! Every message, record and alert in every state of both machines, with and without a second hello, resumption and
//! client authentication: the rules give the outcome of each, and their table is `vectors/tls/states.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use super::attacks::{did_message, every_message};
use super::puppet::{Puppet, Serving, plain};
use super::resumption::Known;
use super::ssi::{Registry, Subject, drive, only, ssi, trust_did, trust_vc};
use crate::codec::{
    CertificateChain, CertificateEntry, CertificateRequest, ClientHello, ContentType, Extension,
    Extensions, Message, Mode, ServerHello, SsiParameters,
};
use crate::identity::{Identities, PeerPolicy, Side};
use crate::profile::PAPER;
use crate::resumption::{EarlyData, Sessions, StrikeRegister, TicketKeys, TicketSession};
use crate::testing::{Authority, Ends, Leaf, NOW, ctx};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, Scheme, ServerConfig, Suite,
};

/// The outcome of an input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    /// It is accepted.
    Taken,
    /// It is kept until evidence arrives.
    Kept,
    /// The peer is refused.
    Refused(Alert),
    /// It is an alert from the peer, which ends the connection.
    Ended(Alert),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("taken"),
            Self::Kept => f.write_str("kept"),
            Self::Refused(alert) => f.write_str(alert.as_str()),
            Self::Ended(alert) => write!(f, "ended by {}", alert.as_str()),
        }
    }
}

const UNEXPECTED: Outcome = Outcome::Refused(Alert::UnexpectedMessage);

/// What is sent.
enum Input {
    Message(Message),
    /// A handshake message of any type.
    Handshake(u8, Vec<u8>),
    /// A record, protected if there are keys.
    Record(ContentType, Vec<u8>),
    /// A record as it is, unprotected.
    Plain(u8, Vec<u8>),
}

/// Every input, by name. A server has to echo `session_id`.
fn inputs(session_id: &[u8]) -> Vec<(&'static str, Input)> {
    let mut inputs = Vec::new();
    for message in every_message() {
        let (name, message) = match message {
            Message::ClientHello(_) => ("client_hello", message),
            Message::ServerHello(mut hello) => {
                hello.session_id = session_id.to_vec();
                ("server_hello", Message::ServerHello(hello))
            }
            Message::NewSessionTicket(_) => ("new_session_ticket", message),
            Message::EndOfEarlyData => ("end_of_early_data", message),
            Message::EncryptedExtensions(_) => ("encrypted_extensions", message),
            Message::Certificate(_) => ("certificate", message),
            Message::CertificateRequest(_) => ("certificate_request", message),
            Message::CertificateVerify(_) => ("certificate_verify", message),
            Message::Finished(_) => ("finished", message),
            Message::KeyUpdate(_) => ("key_update", message),
            Message::SsiRequest(_) => ("ssi_request", message),
            Message::Vc(_) => ("vc", message),
            Message::Did(_) => ("did", message),
            Message::DidVerify(_) => ("did_verify", message),
        };
        inputs.push((name, Input::Message(message)));
    }
    let extensions = Extensions(vec![
        Extension::Version(0x0304),
        Extension::RetryGroup(Group::SECP256R1),
    ]);
    let mut retry = ServerHello::new(None, Suite::AES_128_GCM_SHA256, extensions);
    retry.session_id = session_id.to_vec();
    let retry = Message::ServerHello(retry);
    inputs.push(("hello_retry_request", Input::Message(retry)));
    inputs.push(("message_hash", Input::Handshake(254, vec![0; 32])));
    inputs.push(("unknown message", Input::Handshake(99, vec![1, 2, 3])));
    inputs.push(("data", Input::Record(ContentType::ApplicationData, vec![1])));
    let alert = |level, alert: Alert| Input::Record(ContentType::Alert, vec![level, alert.code()]);
    inputs.push(("close_notify", alert(1, Alert::CloseNotify)));
    inputs.push(("alert", alert(2, Alert::HandshakeFailure)));
    inputs.push(("plain alert", Input::Plain(21, vec![2, 40])));
    inputs.push(("plain message", Input::Plain(22, vec![8, 0, 0, 2, 0, 0])));
    inputs.push(("change_cipher_spec", Input::Plain(20, vec![1])));
    inputs.push(("unknown record", Input::Plain(99, vec![1])));
    inputs
}

/// Sends an input; returns its outcome.
fn send(puppet: &mut Puppet, to: &mut Connection, input: &Input) -> Outcome {
    let was_waiting = !to.needs().is_empty() && to.is_suspended();
    let got = match input {
        Input::Message(message) => puppet.send(to, message),
        Input::Handshake(kind, body) => {
            let length = u8::try_from(body.len()).unwrap();
            puppet.send_raw(to, &[&[*kind, 0, 0, length], body.as_slice()].concat())
        }
        Input::Record(content, bytes) => puppet.send_record(to, *content, bytes),
        Input::Plain(content, bytes) => {
            let length = u8::try_from(bytes.len()).unwrap();
            to.receive(
                &[&[*content, 3, 3, 0, length], bytes.as_slice()].concat(),
                &ctx(),
            )
        }
    };
    match got {
        Ok(()) if was_waiting => Outcome::Kept,
        Ok(()) => Outcome::Taken,
        Err(Error::Refused(refusal)) => {
            assert!(!to.take_outgoing().is_empty(), "a refusal is said");
            assert_eq!(to.receive(&[], &ctx()), got, "a refusal is for good");
            Outcome::Refused(refusal.alert)
        }
        Err(Error::Alerted(alert)) => Outcome::Ended(alert),
        other => panic!("{other:?}"),
    }
}

/// How the server authenticates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Shown {
    By(Mode),
    Resumed,
}

/// A course that a handshake can take.
#[derive(Clone, Copy, Debug)]
struct Course {
    retry: bool,
    /// How the server authenticates.
    shown: Shown,
    /// What the client is asked for.
    asked: Option<Mode>,
    /// Whether the client sends early data and the server accepts it.
    early: bool,
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |mode| match mode {
            Mode::Certificate => "certificate",
            Mode::Did => "DID",
            Mode::Vc => "VC",
        };
        match self.shown {
            Shown::Resumed => f.write_str("resumed")?,
            Shown::By(mode) => f.write_str(name(mode))?,
        }
        if self.early {
            f.write_str(" with early data")?;
        }
        write!(f, ", client by {}", self.asked.map_or("nothing", name))?;
        match self.retry {
            true => f.write_str(", second hello"),
            false => Ok(()),
        }
    }
}

/// What the machine awaits, in order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum State {
    Hello,
    HelloAgain,
    EncryptedExtensions,
    Identity,
    IdentityAfterRequest,
    Proof,
    EarlyData,
    Finished,
    Evidence,
    Open,
}

/// All participants with every kind of identity.
struct World {
    authority: Authority,
    chain: Leaf,
    issuer: Subject,
    server: Subject,
    client: Subject,
    sessions: Sessions,
    keys: TicketKeys,
}

impl World {
    fn new() -> Self {
        let authority = Authority::new();
        Self {
            chain: authority.leaf(&rcgen::PKCS_ED25519),
            authority,
            issuer: Subject::new("did:web:issuer.example"),
            server: Subject::new("did:web:server.example"),
            client: Subject::new("did:web:client.example"),
            sessions: Sessions::new(16),
            keys: TicketKeys::new([7; 32]),
        }
    }

    fn registry(&self) -> Registry {
        Registry::of(&[&self.server, &self.client])
    }

    fn identities(&self, subject: &Subject, mode: Option<Mode>) -> Identities {
        match mode {
            None => Identities::default(),
            Some(Mode::Certificate) => self.chain.identities(),
            Some(Mode::Did) => ssi(subject.as_did()),
            Some(Mode::Vc) => ssi(subject.as_holder(&self.issuer)),
        }
    }

    fn policy(&self, certificates: PeerPolicy, subject: &Subject, mode: Mode) -> PeerPolicy {
        match mode {
            Mode::Certificate => certificates,
            Mode::Did => only(trust_did(subject)),
            Mode::Vc => only(trust_vc(subject, &self.issuer)),
        }
    }

    fn configs(&self, course: Course) -> (Arc<ClientConfig>, Arc<ServerConfig>) {
        let by_server = match course.shown {
            Shown::By(mode) => mode,
            Shown::Resumed => course.asked.unwrap_or(Mode::Certificate),
        };
        let believer = || course.early.then(|| Arc::new(Known::default()) as _);
        let own = Config {
            identities: self.identities(&self.client, course.asked),
            revalidate: believer(),
            ..Config::default()
        };
        let expected = self.policy(self.authority.server(), &self.server, by_server);
        let client = ClientConfig::new(own, expected).unwrap();
        let other = Config {
            identities: self.identities(&self.server, Some(by_server)),
            groups: match course.retry {
                true => vec![Group::SECP256R1],
                false => vec![Group::X25519],
            },
            revalidate: believer(),
            ..Config::default()
        };
        let clients = match course.asked {
            None => ClientAuth::None,
            Some(mode) => {
                ClientAuth::Required(self.policy(self.authority.clients(), &self.client, mode))
            }
        };
        let server = ServerConfig::new(other, clients).unwrap();
        let (client, server) = (
            client.with_sessions(self.sessions.clone()),
            server.with_tickets(self.keys.clone()),
        );
        if !course.early {
            return (Arc::new(client), Arc::new(server));
        }
        let strikes = Arc::new(StrikeRegister::new(4, NOW.minus(100)));
        let server = server.with_early_data(EarlyData::new(strikes));
        (Arc::new(client.with_early_data()), Arc::new(server))
    }

    /// A ticket for this course, if it resumes.
    fn session(&self, course: Course) -> Option<TicketSession> {
        if course.shown != Shown::Resumed {
            return None;
        }
        let (client, server) = self.configs(course);
        let mut one = Connection::client(&client, &ctx()).unwrap();
        let mut other = Connection::server(&server, &ctx());
        let ends = drive(&mut one, &mut other, &self.registry());
        assert_eq!(ends, Ends::default());
        self.sessions.take(&client.digest, NOW)
    }
}

/// Each course, with each kind of client authentication.
fn courses() -> Vec<Course> {
    let shown = [
        (Mode::Certificate, None),
        (Mode::Certificate, Some(Mode::Certificate)),
        (Mode::Certificate, Some(Mode::Did)),
        (Mode::Vc, None),
        (Mode::Vc, Some(Mode::Certificate)),
        (Mode::Vc, Some(Mode::Vc)),
        (Mode::Did, None),
        (Mode::Did, Some(Mode::Certificate)),
        (Mode::Did, Some(Mode::Did)),
    ];
    let full = shown.map(|(mode, asked)| (Shown::By(mode), asked));
    let resumed = [None, Some(Mode::Certificate), Some(Mode::Did)];
    let resumed = resumed.map(|asked| (Shown::Resumed, asked));
    let mut courses = Vec::new();
    for retry in [false, true] {
        for (shown, asked) in full.iter().chain(&resumed).copied() {
            courses.push(Course {
                retry,
                shown,
                asked,
                early: false,
            });
        }
    }
    for (shown, asked) in resumed {
        courses.push(Course {
            retry: false,
            shown,
            asked,
            early: true,
        });
    }
    courses
}

/// A client in a state, and the puppet that talks to it.
fn client_in(
    world: &World,
    course: Course,
    state: State,
    session: Option<&TicketSession>,
) -> (Connection, Puppet, Vec<u8>) {
    let (config, _) = world.configs(course);
    world.sessions.clear();
    if let Some(session) = session {
        world.sessions.insert(config.digest, session.clone());
    }
    let mut client = Connection::client(&config, &ctx()).unwrap();
    if state == State::Hello {
        let hello = hello_of(&mut client);
        return (client, Puppet::mute(Side::Server), hello.session_id);
    }
    if state == State::HelloAgain {
        let hello = hello_of(&mut client);
        let mut mute = Puppet::mute(Side::Server);
        let retry = inputs(&hello.session_id);
        let (_, retry) = retry
            .iter()
            .find(|(name, _)| *name == "hello_retry_request")
            .unwrap();
        assert_eq!(send(&mut mute, &mut client, retry), Outcome::Taken);
        return (client, mute, hello.session_id);
    }
    let serving = Serving {
        retry: course.retry,
        secret: session.map(|session| &session.secret),
    };
    let accept = |hello: &mut ServerHello| {
        if course.shown == Shown::Resumed {
            hello.extensions.0.push(Extension::PreSharedKey(0));
        }
    };
    let (mut puppet, failed) = Puppet::serve(&mut client, accept, serving);
    assert_eq!(failed, None);
    for message in server_flight(world, course, state) {
        let message = match message {
            Step::Message(message) => message,
            Step::Proof(mode) => puppet.identity_proof(proving(world, mode), mode),
            Step::Finished => puppet.finished(),
        };
        puppet.send(&mut client, &message).unwrap();
    }
    if state >= State::Evidence {
        puppet.open();
    }
    if state == State::Open {
        let evidence = world.registry().evidence(client.needs());
        client.provide(&evidence, &ctx()).unwrap();
        assert!(client.is_open());
        drop(client.take_outgoing());
    }
    (client, puppet, Vec::new())
}

/// What is sent to reach a state.
enum Step {
    Message(Message),
    Proof(Mode),
    Finished,
}

/// The server's flight up to where the client is in this state.
fn server_flight(world: &World, course: Course, state: State) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut until = |reached: State, step: Step| {
        if state > reached {
            steps.push(step);
        }
    };
    let message = Step::Message;
    let early = course.early.then_some(Extension::EarlyData);
    let extensions = Message::EncryptedExtensions(Extensions(early.into_iter().collect()));
    until(State::EncryptedExtensions, message(extensions));
    if let Shown::By(mode) = course.shown {
        if let Some(asked) = course.asked {
            until(State::Identity, message(request(asked)));
        }
        let shown = identity(world, &world.server, mode);
        until(State::IdentityAfterRequest, message(shown));
        until(State::Proof, Step::Proof(mode));
    }
    until(State::Finished, Step::Finished);
    steps
}

fn proving(world: &World, mode: Mode) -> crate::SigningKey {
    match mode {
        Mode::Certificate => crate::SigningKey::from_pkcs8(&world.chain.key).unwrap(),
        Mode::Did | Mode::Vc => world.server.key.clone(),
    }
}

fn request(mode: Mode) -> Message {
    let mut extensions = vec![Extension::Schemes(vec![Scheme::ED25519])];
    if mode == Mode::Certificate {
        return Message::CertificateRequest(CertificateRequest {
            context: Vec::new(),
            extensions: Extensions(extensions),
        });
    }
    extensions.push(Extension::Ssi(SsiParameters {
        mode,
        methods: vec![226, 224],
        ..SsiParameters::default()
    }));
    Message::SsiRequest(Extensions(extensions))
}

fn identity(world: &World, subject: &Subject, mode: Mode) -> Message {
    match mode {
        Mode::Certificate => {
            let entry = |data: &Vec<u8>| CertificateEntry {
                data: data.clone(),
                extensions: Extensions::default(),
            };
            Message::Certificate(CertificateChain {
                context: Vec::new(),
                entries: world.chain.chain.iter().map(entry).collect(),
            })
        }
        Mode::Did => did_message(subject.did.as_str()),
        Mode::Vc => {
            let own = subject.as_holder(&world.issuer);
            Message::Vc(crate::codec::VcMessage {
                vc: own.vc.unwrap(),
                staples: Vec::new(),
            })
        }
    }
}

fn hello_of(client: &mut Connection) -> ClientHello {
    match plain(&client.take_outgoing()).pop().unwrap() {
        (Message::ClientHello(hello), _) => hello,
        other => panic!("not a hello: {other:?}"),
    }
}

/// The states of a client on this course.
fn client_states(course: Course) -> Vec<State> {
    let mut states = vec![State::Hello];
    if course.retry {
        states.push(State::HelloAgain);
    }
    states.push(State::EncryptedExtensions);
    if let Shown::By(mode) = course.shown {
        states.push(State::Identity);
        if course.asked.is_some() {
            states.push(State::IdentityAfterRequest);
        }
        states.push(State::Proof);
        states.push(State::Finished);
        if mode != Mode::Certificate {
            states.push(State::Evidence);
        }
    } else {
        states.push(State::Finished);
    }
    states.push(State::Open);
    states
}

/// The client's outcome for an input: RFC 8446 §A.1, the paper §IV, docs/tls.md.
fn client_rule(course: Course, state: State, input: &str) -> Outcome {
    let alert = Outcome::Refused;
    if let Some(outcome) = common_rule(state, input) {
        return outcome;
    }
    let offers_ssi = match course.shown {
        Shown::By(mode) => mode != Mode::Certificate || course.asked == Some(Mode::Did),
        Shown::Resumed => course.asked == Some(Mode::Did),
    };
    match (state, input, course.shown) {
        // The ServerHello among the inputs has no key share.
        (State::Hello | State::HelloAgain, "server_hello", _) => alert(Alert::MissingExtension),
        (State::Hello, "hello_retry_request", _) => Outcome::Taken,
        (State::Hello | State::HelloAgain, "plain alert", _) => {
            Outcome::Ended(Alert::HandshakeFailure)
        }
        (State::EncryptedExtensions, "encrypted_extensions", _) => Outcome::Taken,
        (State::Identity, "certificate_request", _) => Outcome::Taken,
        // The SSIRequest among the inputs asks for a DID.
        (State::Identity, "ssi_request", Shown::By(mode)) if offers_ssi => match mode {
            Mode::Vc => alert(Alert::IllegalParameter),
            Mode::Certificate | Mode::Did => Outcome::Taken,
        },
        (State::Identity | State::IdentityAfterRequest, input, Shown::By(mode)) => {
            match (input, mode) {
                // An empty chain.
                ("certificate", Mode::Certificate) => alert(Alert::DecodeError),
                ("certificate", Mode::Did | Mode::Vc) => alert(Alert::InsufficientSecurity),
                ("vc", Mode::Vc) => alert(Alert::BadCertificate),
                ("did", Mode::Did) => Outcome::Taken,
                _ => UNEXPECTED,
            }
        }
        (State::Proof, "certificate_verify", Shown::By(Mode::Certificate)) => {
            alert(Alert::DecryptError)
        }
        // The key is not known yet.
        (State::Proof, "did_verify", Shown::By(Mode::Did | Mode::Vc)) => Outcome::Taken,
        (State::Finished, "finished", _) => alert(Alert::DecryptError),
        (State::Open, "new_session_ticket", _) => Outcome::Taken,
        _ => UNEXPECTED,
    }
}

/// Rules common to both ends.
fn common_rule(state: State, input: &str) -> Option<Outcome> {
    let is_plain = state <= State::HelloAgain;
    Some(match (state, input) {
        (State::Evidence, _) => Outcome::Kept,
        (State::Open, "data" | "key_update" | "close_notify") => Outcome::Taken,
        (State::Open, "change_cipher_spec") => UNEXPECTED,
        (_, "change_cipher_spec") => Outcome::Taken,
        (_, "close_notify") => Outcome::Ended(Alert::CloseNotify),
        (_, "alert") => Outcome::Ended(Alert::HandshakeFailure),
        (_, "plain alert") if is_plain => Outcome::Ended(Alert::HandshakeFailure),
        _ => return None,
    })
}

#[test]
fn every_input_in_every_state_of_the_client_has_its_outcome() {
    let world = World::new();
    for course in courses() {
        let session = world.session(course);
        for state in client_states(course) {
            let names: Vec<_> = inputs(&[]).into_iter().map(|(name, _)| name).collect();
            for (at, name) in names.into_iter().enumerate() {
                let (mut client, mut puppet, session_id) =
                    client_in(&world, course, state, session.as_ref());
                let (_, input) = inputs(&session_id).remove(at);
                let got = send(&mut puppet, &mut client, &input);
                let expected = client_rule(course, state, name);
                assert_eq!(got, expected, "{name} in {state:?} ({course})");
                assert!(state == State::Open || !client.is_open());
                let data = client.take_incoming();
                assert_eq!(!data.is_empty(), state == State::Open && name == "data");
            }
        }
    }
}

/// A server in a state, and the puppet that talks to it.
fn server_in(
    world: &World,
    course: Course,
    state: State,
    session: Option<&TicketSession>,
) -> (Connection, Puppet) {
    let (client, config) = world.configs(course);
    let mut server = Connection::server(&config, &ctx());
    if state == State::Hello {
        return (server, Puppet::mute(Side::Client));
    }
    world.sessions.clear();
    let mut real = Connection::client(&client, &ctx()).unwrap();
    if state == State::HelloAgain {
        server.receive(&real.take_outgoing(), &ctx()).unwrap();
        return (server, Puppet::mute(Side::Client));
    }
    let mut hello = hello_of(&mut real);
    // It need not look like a TLS 1.2 session.
    hello.session_id.clear();
    if course.early {
        hello.extensions.0.push(Extension::EarlyData);
    }
    let (mut puppet, _) = Puppet::ask(&mut server, (hello, &PAPER), session).unwrap();
    if let (Shown::By(_), Some(mode)) = (course.shown, course.asked) {
        if state > State::Identity {
            let shown = identity(world, &world.client, mode);
            puppet.send(&mut server, &shown).unwrap();
        }
        if state > State::Proof {
            let key = match mode {
                Mode::Certificate => proving(world, mode),
                Mode::Did | Mode::Vc => world.client.key.clone(),
            };
            let proof = puppet.identity_proof(key, mode);
            puppet.send(&mut server, &proof).unwrap();
        }
    }
    if course.early && state > State::EarlyData {
        puppet.send(&mut server, &Message::EndOfEarlyData).unwrap();
        puppet.end_early();
    }
    if state > State::Finished {
        let finished = puppet.finished();
        puppet.send(&mut server, &finished).unwrap();
        puppet.open();
    }
    if state == State::Open {
        let evidence = world.registry().evidence(server.needs());
        server.provide(&evidence, &ctx()).unwrap();
        assert!(server.is_open());
    }
    (server, puppet)
}

/// The states of a server on this course.
fn server_states(course: Course) -> Vec<State> {
    let mut states = vec![State::Hello];
    if course.retry {
        states.push(State::HelloAgain);
    }
    if let (Shown::By(_), Some(mode)) = (course.shown, course.asked) {
        states.push(State::Identity);
        states.push(State::Proof);
        states.push(State::Finished);
        if mode != Mode::Certificate {
            states.push(State::Evidence);
        }
    } else {
        if course.early {
            states.push(State::EarlyData);
        }
        states.push(State::Finished);
    }
    states.push(State::Open);
    states
}

/// The server's outcome for an input: RFC 8446 §A.2, the paper §IV, docs/tls.md.
fn server_rule(course: Course, state: State, input: &str) -> Outcome {
    let alert = Outcome::Refused;
    match (state, input) {
        (State::Hello, "change_cipher_spec") => return UNEXPECTED,
        // This hello asks for a DID: a certificate is shown instead, and a second hello is needed first.
        (State::Hello, "client_hello") => {
            // This client cannot be asked for a credential.
            return match course.asked == Some(Mode::Vc) && !course.retry {
                true => alert(Alert::HandshakeFailure),
                false => Outcome::Taken,
            };
        }
        // It differs from the first.
        (State::HelloAgain, "client_hello") => return alert(Alert::IllegalParameter),
        _ => {}
    }
    if let Some(outcome) = common_rule(state, input) {
        return outcome;
    }
    match (state, input, course.asked) {
        (State::Identity, "certificate", Some(Mode::Certificate)) => {
            alert(Alert::CertificateRequired)
        }
        // It is the server's own.
        (State::Identity, "did", Some(Mode::Did)) => alert(Alert::AccessDenied),
        (State::Identity, "vc", Some(Mode::Vc)) => alert(Alert::BadCertificate),
        (State::EarlyData, "data" | "end_of_early_data", _) => Outcome::Taken,
        (State::Proof, "certificate_verify", Some(Mode::Certificate)) => alert(Alert::DecryptError),
        (State::Proof, "did_verify", Some(Mode::Did | Mode::Vc)) => Outcome::Taken,
        (State::Finished, "finished", _) => alert(Alert::DecryptError),
        _ => UNEXPECTED,
    }
}

#[test]
fn every_input_in_every_state_of_the_server_has_its_outcome() {
    let world = World::new();
    for course in courses() {
        let session = world.session(course);
        for state in server_states(course) {
            for (name, input) in inputs(&[]) {
                let (mut server, mut puppet) = server_in(&world, course, state, session.as_ref());
                let got = send(&mut puppet, &mut server, &input);
                let expected = server_rule(course, state, name);
                assert_eq!(got, expected, "{name} in {state:?} ({course})");
                assert!(state == State::Open || !server.is_open());
                let data = server.take_incoming();
                assert_eq!(!data.is_empty(), state == State::Open && name == "data");
            }
        }
    }
}

type Rule = fn(Course, State, &str) -> Outcome;
type States = fn(Course) -> Vec<State>;

/// The rules as a table: for each state, the inputs that are not simply unexpected, and the courses where that holds.
fn table() -> String {
    let names: Vec<_> = inputs(&[]).into_iter().map(|(name, _)| name).collect();
    let outcomes = |course, state, rule: Rule| {
        let of = |name: &&str| rule(course, state, name);
        if names.iter().all(|name| of(name) == Outcome::Kept) {
            return "all kept".to_owned();
        }
        let named = names.iter().filter(|name| of(name) != UNEXPECTED);
        let outcomes: Vec<_> = named.map(|name| format!("{name} = {}", of(name))).collect();
        outcomes.join(", ")
    };
    let machines: [(&str, States, Rule); 2] = [
        ("client", client_states, client_rule),
        ("server", server_states, server_rule),
    ];
    let mut lines: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (machine, states, rule) in machines {
        for course in courses() {
            for state in states(course) {
                let line = (machine, state, outcomes(course, state, rule));
                lines.entry(line).or_default().insert(course.to_string());
            }
        }
    }
    let mut table = HEAD.to_owned();
    for ((machine, state, outcomes), courses) in lines {
        writeln!(table, "\n{machine} awaits {state:?}: {outcomes}").unwrap();
        for course in &courses {
            let again = format!("{course}, second hello");
            let both = courses.contains(&again);
            let is_said = course
                .strip_suffix(", second hello")
                .is_some_and(|first| courses.contains(first));
            match (both, is_said) {
                (true, _) => {
                    writeln!(table, "  {course}, with and without a second hello").unwrap()
                }
                (false, false) => writeln!(table, "  {course}").unwrap(),
                (false, true) => {}
            }
        }
    }
    table
}

const HEAD: &str = "\
# What each machine makes of each input in each state, on each course a handshake can take. What is not named is refused
# with unexpected_message. Inputs: every handshake message, well-formed but foreign to the handshake (an empty chain, a
# proof and a Finished that do not hold), messages and records of types that do not exist, records without protection,
# alerts, data. Below each state stand the courses: how the server shows itself, how the client does.
# Made and tested by crates/selfsame-tls/src/tests/table.rs.
";

#[test]
fn the_table_of_states_is_the_one_that_is_written_down() {
    let written = include_str!("../../../../vectors/tls/states.txt");
    let made = table();
    if made != written {
        let path = std::env::temp_dir().join("selfsame-tls-states.txt");
        std::fs::write(&path, &made).unwrap();
        panic!(
            "the rules have changed; the new table is {}",
            path.display()
        );
    }
}
