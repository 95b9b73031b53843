//! A peer controlled by a test: it agrees on keys correctly, and can send any message after that.

use selfsame_crypto::time::UnixTime;

use crate::codec::{
    CertificateVerify, ClientHello, ContentType, Extension, Extensions, KeyShare, Message, Mode,
    OfferedPsks, PskIdentity, ServerHello,
};
use crate::core::{Core, Limits};
use crate::handshake::{HandshakeProgress, TLS_1_3};
use crate::identity::{Side, to_sign};
use crate::profile::{PAPER, Profile};
use crate::provider::{Block, Cipher, KeyExchange, SCHEMES};
use crate::resumption::TicketSession;
use crate::schedule::{Application, Early};
use crate::testing::{NOW, ctx};
use crate::transcript::{Transcript, Unhashed};
use crate::{Connection, Error, Group, Scheme, SigningKey, Suite};

/// How a puppet server answers.
#[derive(Clone, Copy, Default)]
pub(super) struct Serving<'a> {
    /// It asks for another key share first.
    pub(super) retry: bool,
    /// It resumes with this secret; the test adds the extension to its hello.
    pub(super) secret: Option<&'a Block>,
}

/// The bytes of the first record.
fn length_of_first(bytes: &[u8]) -> usize {
    5 + usize::from(u16::from_be_bytes([bytes[3], bytes[4]]))
}

/// The ServerHello or HelloRetryRequest in the first record.
pub(super) fn first_answer(bytes: &[u8]) -> (ServerHello, Vec<u8>) {
    match plain(&bytes[..length_of_first(bytes)]).pop().unwrap() {
        (Message::ServerHello(answer), raw) => (answer, raw),
        other => panic!("not a ServerHello: {other:?}"),
    }
}

/// Puts a fresh key share into a hello.
fn share(hello: &mut ClientHello, group: Group) -> KeyExchange {
    let exchange = KeyExchange::start(group).unwrap();
    for extension in &mut hello.extensions.0 {
        if let Extension::KeyShares(shares) = extension {
            let key = exchange.share().1.to_vec();
            *shares = vec![KeyShare { group, key }];
        }
    }
    exchange
}

/// The hello's bytes, with the ticket and its binder at the end.
fn bind(
    (hello, profile): (&mut ClientHello, &Profile),
    session: Option<&TicketSession>,
    before: Option<&Transcript>,
) -> Vec<u8> {
    if let Some(session) = session {
        let is_other = |one: &Extension| !matches!(one, Extension::PreSharedKeys(_));
        hello.extensions.0.retain(is_other);
        let identity = PskIdentity {
            ticket: session.ticket.clone(),
            age: session.obfuscated_age(NOW),
        };
        hello
            .extensions
            .0
            .push(Extension::PreSharedKeys(OfferedPsks {
                identities: vec![identity],
                binders: vec![vec![0; 32]],
            }));
    }
    let mut raw = Message::ClientHello(hello.clone()).write(profile).unwrap();
    if let Some(session) = session {
        let cipher = Cipher::new(Suite::AES_128_GCM_SHA256).unwrap();
        let (bound, _) = raw.split_at(raw.len() - 35);
        let hash = match before {
            Some(before) => before.hash_with(bound),
            None => cipher.hash(bound),
        };
        let early = Early::new(cipher, Some(&session.secret));
        let binder = early.binder(hash.as_ref()).unwrap();
        raw.truncate(raw.len() - 32);
        raw.extend(binder);
    }
    raw
}

/// One end, controlled by a test.
pub(super) struct Puppet {
    core: Core,
    pub(super) progress: HandshakeProgress,
    side: Side,
    application: Option<Application>,
}

/// Reads all handshake messages in unprotected records.
pub(super) fn plain(bytes: &[u8]) -> Vec<(Message, Vec<u8>)> {
    let mut core = core();
    core.records.push(bytes);
    messages(&mut core)
}

fn messages(core: &mut Core) -> Vec<(Message, Vec<u8>)> {
    let mut messages = Vec::new();
    let mut cursor = core.records.cursor();
    while let Some(record) = core.records.next(&mut cursor).unwrap() {
        match record.content {
            ContentType::ChangeCipherSpec => continue,
            ContentType::Handshake => core.join(&record.bytes),
            other => panic!("a record of type {other:?} in a handshake"),
        }
        while let Some(raw) = core.next_message().unwrap() {
            messages.push((Message::parse(&raw, core.profile).unwrap(), raw));
        }
    }
    core.records.forget(cursor);
    messages
}

fn core() -> Core {
    Core::new(&PAPER, Limits::default(), UnixTime(NOW.0))
}

impl Puppet {
    /// A server that has answered the client's hello.
    pub(super) fn server(client: &mut Connection) -> Self {
        Self::server_with(client, |_| {}).0
    }

    /// A server that has answered with a changed ServerHello.
    pub(super) fn server_with(
        client: &mut Connection,
        change: impl FnOnce(&mut ServerHello),
    ) -> (Self, Option<Error>) {
        Self::serve(client, change, Serving::default())
    }

    /// A server that accepts the ticket with this secret.
    pub(super) fn resuming_server(client: &mut Connection, secret: &Block) -> Self {
        let accept = |hello: &mut ServerHello| hello.extensions.0.push(Extension::PreSharedKey(0));
        let serving = Serving {
            secret: Some(secret),
            ..Serving::default()
        };
        let (puppet, failed) = Self::serve(client, accept, serving);
        assert_eq!(failed, None);
        puppet
    }

    /// One without keys, not connected to any peer.
    pub(super) fn mute(side: Side) -> Self {
        let cipher = Cipher::new(Suite::AES_128_GCM_SHA256).unwrap();
        let transcript = Unhashed::default().start(cipher);
        let schedule = Early::new(cipher, None).handshake(&[1; 32], &[2; 32]);
        Self {
            core: core(),
            progress: HandshakeProgress::new(cipher, Group::X25519, transcript, schedule.unwrap()),
            side,
            application: None,
        }
    }

    /// Asks the client for another key share; returns its second hello, and the transcript up to it.
    fn ask_again(
        core: &mut Core,
        client: &mut Connection,
        (hello, transcript): (ClientHello, &mut Transcript),
    ) -> ClientHello {
        transcript.retry();
        let extensions = Extensions(vec![
            Extension::Version(TLS_1_3),
            Extension::RetryGroup(Group::SECP256R1),
        ]);
        let mut retry = ServerHello::new(None, Suite::AES_128_GCM_SHA256, extensions);
        retry.session_id = hello.session_id;
        transcript.add(core.queue(&Message::ServerHello(retry)).unwrap());
        core.flush().unwrap();
        client
            .receive(&core.records.take_outgoing(), &ctx())
            .unwrap();
        let (again, raw) = plain(&client.take_outgoing()).pop().unwrap();
        transcript.add(&raw);
        match again {
            Message::ClientHello(again) => again,
            other => panic!("not a hello: {other:?}"),
        }
    }

    pub(super) fn serve(
        client: &mut Connection,
        change: impl FnOnce(&mut ServerHello),
        serving: Serving<'_>,
    ) -> (Self, Option<Error>) {
        let mut hellos = plain(&client.take_outgoing());
        let (hello, raw) = hellos.pop().unwrap();
        let Message::ClientHello(mut hello) = hello else {
            panic!("not a hello")
        };
        let mut core = core();
        let cipher = Cipher::new(Suite::AES_128_GCM_SHA256).unwrap();
        let mut transcript = Unhashed::default();
        transcript.add(&raw);
        let mut transcript = transcript.start(cipher);
        if serving.retry {
            hello = Self::ask_again(&mut core, client, (hello, &mut transcript));
        }
        let share = &hello.extensions.key_shares().unwrap()[0];
        let (key, shared) = KeyExchange::answer(share.group, &share.key).unwrap();
        let group = share.group;
        let extensions = Extensions(vec![
            Extension::Version(TLS_1_3),
            Extension::KeyShare(KeyShare { group, key }),
        ]);
        let mut answer = ServerHello::new(Some([7; 32]), Suite::AES_128_GCM_SHA256, extensions);
        answer.session_id = hello.session_id;
        change(&mut answer);
        transcript.add(core.queue(&Message::ServerHello(answer)).unwrap());
        core.flush().unwrap();
        let schedule = Early::new(cipher, serving.secret)
            .handshake(shared.bytes(), transcript.hash().as_ref())
            .unwrap();
        let failed = client.receive(&core.records.take_outgoing(), &ctx()).err();
        core.records.set_write(schedule.server.clone());
        core.records.set_read(schedule.client.clone());
        let puppet = Self {
            core,
            progress: HandshakeProgress::new(cipher, group, transcript, schedule),
            side: Side::Server,
            application: None,
        };
        (puppet, failed)
    }

    /// A client whose hello has these extensions besides the necessary ones, and that has read the server's flight.
    pub(super) fn client(
        server: &mut Connection,
        more: Vec<Extension>,
    ) -> Result<(Self, Vec<Message>), Error> {
        Self::client_speaking(&PAPER, server, more)
    }

    /// Like `client`, in this profile.
    pub(super) fn client_speaking(
        profile: &'static Profile,
        server: &mut Connection,
        more: Vec<Extension>,
    ) -> Result<(Self, Vec<Message>), Error> {
        let mut extensions = vec![
            Extension::Versions(vec![TLS_1_3]),
            Extension::Groups(vec![Group::X25519]),
            Extension::Schemes(SCHEMES.to_vec()),
            Extension::KeyShares(Vec::new()),
        ];
        extensions.extend(more);
        let suites = vec![Suite::AES_128_GCM_SHA256];
        let hello = ClientHello::new([9; 32], suites, Extensions(extensions));
        Self::ask(server, (hello, profile), None)
    }

    /// A client that has sent this hello with a key share, sends it again if asked to, and offers a ticket if it has
    /// one.
    pub(super) fn ask(
        server: &mut Connection,
        (mut hello, profile): (ClientHello, &'static Profile),
        session: Option<&TicketSession>,
    ) -> Result<(Self, Vec<Message>), Error> {
        let mut core = core();
        core.profile = profile;
        let cipher = Cipher::new(Suite::AES_128_GCM_SHA256).unwrap();
        let mut exchange = share(&mut hello, Group::X25519);
        let raw = bind((&mut hello, profile), session, None);
        core.records.send(ContentType::Handshake, &raw).unwrap();
        server.receive(&core.records.take_outgoing(), &ctx())?;
        let first_hello = cipher.hash(&raw);
        let mut transcript = Unhashed::default();
        transcript.add(&raw);
        let mut transcript = transcript.start(cipher);
        let mut bytes = server.take_outgoing();
        let (mut answer, mut raw) = first_answer(&bytes);
        if answer.is_retry() {
            transcript.retry();
            transcript.add(&raw);
            exchange = share(&mut hello, Group::SECP256R1);
            let again = bind((&mut hello, profile), session, Some(&transcript));
            core.records.send(ContentType::Handshake, &again).unwrap();
            server.receive(&core.records.take_outgoing(), &ctx())?;
            transcript.add(&again);
            bytes = server.take_outgoing();
            (answer, raw) = first_answer(&bytes);
        }
        let first = length_of_first(&bytes);
        transcript.add(&raw);
        assert_eq!(answer.suite, cipher.suite());
        let group = exchange.share().0;
        let share = answer.extensions.find(|extension| match extension {
            Extension::KeyShare(share) => Some(share.key.clone()),
            _ => None,
        });
        let shared = exchange.complete(group, &share.unwrap()).unwrap();
        let secret = session.map(|session| &session.secret);
        let schedule = Early::new(cipher, secret)
            .handshake(shared.bytes(), transcript.hash().as_ref())
            .unwrap();
        core.records.set_read(schedule.server.clone());
        core.records.set_write(schedule.client.clone());
        core.records.push(&bytes[first..]);
        let flight = messages(&mut core);
        flight.iter().for_each(|(_, raw)| transcript.add(raw));
        let takes_early = flight.iter().any(|(message, _)| match message {
            Message::EncryptedExtensions(extensions) => extensions.has_early_data(),
            _ => false,
        });
        if takes_early {
            let early = Early::new(cipher, secret).traffic(first_hello.as_ref());
            core.records.set_write(early.unwrap());
        }
        let application = schedule.application(transcript.hash().as_ref()).unwrap();
        let puppet = Self {
            core,
            progress: HandshakeProgress::new(cipher, group, transcript, schedule),
            side: Side::Client,
            application: Some(application),
        };
        Ok((
            puppet,
            flight.into_iter().map(|(message, _)| message).collect(),
        ))
    }

    /// Writes later messages in this profile.
    pub(super) fn speak(&mut self, profile: &'static Profile) {
        self.core.profile = profile;
    }

    /// Sends a message; returns the other end's result.
    pub(super) fn send(&mut self, to: &mut Connection, message: &Message) -> Result<(), Error> {
        self.progress.queue(&mut self.core, message).unwrap();
        self.core.flush().unwrap();
        to.receive(&self.core.records.take_outgoing(), &ctx())
    }

    /// Sends bytes as handshake records.
    pub(super) fn send_raw(&mut self, to: &mut Connection, raw: &[u8]) -> Result<(), Error> {
        self.progress.transcript.add(raw);
        self.core.records.send(ContentType::Handshake, raw).unwrap();
        to.receive(&self.core.records.take_outgoing(), &ctx())
    }

    pub(super) fn send_empty_extensions(&mut self, to: &mut Connection) -> Result<(), Error> {
        self.send(to, &Message::EncryptedExtensions(Extensions::default()))
    }

    /// A proof over the handshake so far, made by the puppet's side.
    pub(super) fn proof(&self, key: &SigningKey, mode: Mode) -> CertificateVerify {
        self.proof_as(key, (mode, self.side))
    }

    pub(super) fn proof_as(
        &self,
        key: &SigningKey,
        (mode, side): (Mode, Side),
    ) -> CertificateVerify {
        let scheme = key.choose(SCHEMES).unwrap();
        self.proof_with(key, scheme, (mode, side))
    }

    pub(super) fn proof_with(
        &self,
        key: &SigningKey,
        scheme: Scheme,
        (mode, side): (Mode, Side),
    ) -> CertificateVerify {
        let transcript = self.progress.transcript.hash();
        let message = to_sign(mode, &PAPER, side, transcript.as_ref());
        let signature = key.sign(scheme, &message).unwrap();
        CertificateVerify { scheme, signature }
    }

    /// The message that proves an identity of this kind.
    pub(super) fn identity_proof(&self, key: SigningKey, mode: Mode) -> Message {
        let proof = self.proof(&key, mode);
        match mode {
            Mode::Certificate => Message::CertificateVerify(proof),
            Mode::Did | Mode::Vc => Message::DidVerify(proof),
        }
    }

    /// A valid Finished.
    pub(super) fn finished(&self) -> Message {
        let traffic = match self.side {
            Side::Client => &self.progress.schedule.client,
            Side::Server => &self.progress.schedule.server,
        };
        let transcript = self.progress.transcript.hash();
        Message::Finished(traffic.finished(transcript.as_ref()).unwrap())
    }

    /// Switches to the handshake key, after EndOfEarlyData.
    pub(super) fn end_early(&mut self) {
        let traffic = self.progress.schedule.client.clone();
        self.core.records.set_write(traffic);
    }

    /// Switches to the application keys, after its own Finished.
    pub(super) fn open(&mut self) {
        let transcript = self.progress.transcript.hash();
        let application = self.application.take();
        let derived = || self.progress.schedule.application(transcript.as_ref());
        let application = application.unwrap_or_else(|| derived().unwrap());
        self.core.records.set_write(match self.side {
            Side::Client => application.client,
            Side::Server => application.server,
        });
    }

    /// Sends a record with this content, protected if there are keys.
    pub(super) fn send_record(
        &mut self,
        to: &mut Connection,
        content: ContentType,
        bytes: &[u8],
    ) -> Result<(), Error> {
        self.core.records.send(content, bytes).unwrap();
        to.receive(&self.core.records.take_outgoing(), &ctx())
    }

    /// Sends data.
    pub(super) fn send_data(&mut self, to: &mut Connection, data: &[u8]) -> Result<(), Error> {
        let content = ContentType::ApplicationData;
        self.core.records.send(content, data).unwrap();
        to.receive(&self.core.records.take_outgoing(), &ctx())
    }
}
