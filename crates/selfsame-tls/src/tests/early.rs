//! Early data: accepted once and fresh, from a peer judged again at that moment, apart from other data; else skipped.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use selfsame_crypto::time::UnixTime;

use super::puppet::Puppet;
use super::resumption::{Known, Parties, ctx};
use super::ssi::drive;
use crate::codec::{ContentType, Extension, Extensions, Message, ServerHello};
use crate::identity::PeerKind;
use crate::resumption::{EarlyData, StrikeRegister, Strikes, TicketKeys, TicketSession};
use crate::testing::{Ends, NOW, assert_talk};
use crate::{Alert, ClientConfig, Connection, Error, Group, ServerConfig, Suite};

/// Both sides, with early data enabled.
#[derive(Clone)]
struct World {
    parties: Parties,
    early: Option<EarlyData>,
    /// What the server knows about clients now.
    known: Arc<Known>,
}

/// A register that began long before the tests.
fn register() -> Arc<StrikeRegister> {
    Arc::new(StrikeRegister::new(100, NOW.minus(1000)))
}

impl World {
    fn new(mut parties: Parties) -> Self {
        let known = Arc::new(Known::default());
        parties.client.revalidate = Some(Arc::<Known>::default());
        parties.server.revalidate = Some(known.clone());
        Self {
            parties,
            early: Some(EarlyData::new(register())),
            known,
        }
    }

    /// A server with a certificate and an anonymous client.
    fn plain() -> Self {
        Self::new(Parties::plain())
    }

    /// Both sides with DIDs.
    fn dids() -> Self {
        Self::new(Parties::dids().0)
    }

    fn client_config(&self) -> Arc<ClientConfig> {
        let client =
            ClientConfig::new(self.parties.client.clone(), self.parties.expected.clone()).unwrap();
        Arc::new(
            client
                .with_sessions(self.parties.sessions.clone())
                .with_early_data(),
        )
    }

    fn client(&self, now: UnixTime) -> Connection {
        Connection::client(&self.client_config(), &ctx(now)).unwrap()
    }

    fn server(&self, now: UnixTime) -> Connection {
        let server =
            ServerConfig::new(self.parties.server.clone(), self.parties.clients.clone()).unwrap();
        let server = server.with_tickets(self.parties.keys.clone());
        let server = match &self.early {
            Some(early) => server.with_early_data(early.clone()),
            None => server,
        };
        Connection::server(&Arc::new(server), &ctx(now))
    }

    /// A full handshake, after which there are only its tickets.
    fn meet(&self) {
        self.parties.sessions.clear();
        let (mut client, mut server) = (self.client(NOW), self.server(NOW));
        assert_eq!(client.send_early(b"early"), Ok(0));
        let ends = drive(&mut client, &mut server, &self.parties.registry);
        assert_eq!(ends, Ends::default());
        assert!(client.is_open() && server.is_open());
    }

    /// A client that has sent early data, and all bytes it has sent.
    fn early_client(&self, now: UnixTime) -> (Connection, Vec<u8>) {
        let mut client = self.client(now);
        assert_eq!(client.send_early(b"ear").unwrap(), 3);
        assert_eq!(client.send_early(b"ly").unwrap(), 2);
        let sent = client.take_outgoing();
        (client, sent)
    }

    /// The early data that the server accepts if it arrives at this time. Checks that the handshake completes, and that
    /// the client knows the result.
    fn arrives(&self, (client, sent): (&mut Connection, &[u8]), now: UnixTime) -> Vec<u8> {
        let mut server = self.server(now);
        server.receive(sent, &ctx(now)).unwrap();
        let early = server.take_early_data();
        assert_eq!(server.take_incoming(), b"");
        let ends = drive(client, &mut server, &self.parties.registry);
        assert_eq!(ends, Ends::default());
        assert_eq!(client.is_early_data_taken(), !early.is_empty());
        assert_eq!(server.is_early_data_taken(), !early.is_empty());
        assert_talk(client, &mut server);
        assert_eq!(server.take_early_data(), b"");
        assert_eq!(server.early_peer().is_some(), !early.is_empty());
        early
    }

    /// The early data accepted from a client whose bytes arrive at once.
    fn taken(&self) -> Vec<u8> {
        let (mut client, sent) = self.early_client(NOW);
        self.arrives((&mut client, &sent), NOW)
    }

    fn session(&self) -> TicketSession {
        let config = self.client_config();
        self.parties.sessions.take(&config.digest, NOW).unwrap()
    }
}

fn alert<T: std::fmt::Debug>(got: Result<T, Error>) -> Alert {
    match got {
        Err(Error::Refused(refusal)) => refusal.alert,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn early_data_is_read_and_answered_before_the_handshake_is_done_and_apart_from_other_data() {
    for world in [World::plain(), World::dids()] {
        world.meet();
        let (mut client, sent) = world.early_client(NOW);
        let mut server = world.server(NOW);
        assert!(server.early_peer().is_none());
        server.receive(&sent, &ctx(NOW)).unwrap();
        assert!(!server.is_open());
        assert_eq!(server.take_early_data(), b"early");
        assert_eq!(server.take_incoming(), b"");
        let who = server.early_peer().unwrap().clone();
        assert_eq!(who.resumed, Some(NOW));

        server.answer_early(b"answer").unwrap();
        // More can be sent until the server's flight arrives.
        assert_eq!(client.send_early(b"more").unwrap(), 4);
        let more = client.take_outgoing();
        server.receive(&more, &ctx(NOW)).unwrap();
        assert_eq!(server.take_early_data(), b"more");
        client.receive(&server.take_outgoing(), &ctx(NOW)).unwrap();
        assert!(client.is_open() && client.is_early_data_taken());
        assert_eq!(client.take_incoming(), b"answer");
        assert_eq!(client.send_early(b"late").unwrap(), 0);

        client.send(b"ordinary").unwrap();
        server.receive(&client.take_outgoing(), &ctx(NOW)).unwrap();
        assert!(server.is_open());
        assert_eq!(server.take_incoming(), b"ordinary");
        assert_eq!(server.take_early_data(), b"");
        assert_eq!(server.peer().unwrap().kind, who.kind);
        assert!(matches!(
            server.answer_early(b"late"),
            Err(Error::Misused(_))
        ));
        let (mut mine, mut theirs) = ([0; 32], [1; 32]);
        client.export("EXPORTER test", b"", &mut mine).unwrap();
        server.export("EXPORTER test", b"", &mut theirs).unwrap();
        assert_eq!(mine, theirs);
        client.receive(&server.take_outgoing(), &ctx(NOW)).unwrap();
        // The tickets of this connection work as well.
        assert_eq!(world.taken(), b"early");
    }
}

#[test]
fn nothing_is_early_unless_it_is_switched_on_at_both_ends() {
    let mut world = World::plain();
    world.early = None;
    world.meet();
    // The ticket does not allow early data.
    assert_eq!(world.client(NOW).send_early(b"early"), Ok(0));

    let world = World::plain();
    world.meet();
    let config =
        ClientConfig::new(world.parties.client.clone(), world.parties.expected.clone()).unwrap();
    let config = Arc::new(config.with_sessions(world.parties.sessions.clone()));
    let mut client = Connection::client(&config, &ctx(NOW)).unwrap();
    assert_eq!(client.send_early(b"early"), Ok(0));
    let before = client.take_outgoing();
    assert_eq!(client.send_early(b"early"), Ok(0));
    assert!(!before.is_empty() && client.take_outgoing().is_empty());
    // A server whose early data has since been disabled accepts none.
    world.meet();
    let (mut client, sent) = world.early_client(NOW);
    let off = World {
        early: None,
        ..world.clone()
    };
    assert_eq!(off.arrives((&mut client, &sent), NOW), b"");
    // Nor does one with a lower limit than it promised.
    world.meet();
    let (mut client, sent) = world.early_client(NOW);
    let less = World {
        early: Some(EarlyData::new(register()).of_bytes(100)),
        ..world.clone()
    };
    assert_eq!(less.arrives((&mut client, &sent), NOW), b"");
}

#[test]
fn a_hello_that_comes_again_is_not_early_again() {
    let world = World::plain();
    world.meet();
    let (mut client, sent) = world.early_client(NOW);
    assert_eq!(world.arrives((&mut client, &sent), NOW), b"early");
    for later in [0, 1, 10, 11, 12, 600] {
        let mut again = world.server(NOW.plus(later));
        again.receive(&sent, &ctx(NOW.plus(later))).unwrap();
        assert_eq!(again.take_early_data(), b"");
        assert!(again.early_peer().is_none() && !again.is_early_data_taken());
    }
    // A client whose hello was replayed by a thief still completes its handshake.
    let (mut client, sent) = world.early_client(NOW);
    world.server(NOW).receive(&sent, &ctx(NOW)).unwrap();
    assert_eq!(world.arrives((&mut client, &sent), NOW), b"");
}

#[test]
fn another_server_takes_the_same_hello_only_if_it_shares_no_register() {
    let world = World::plain();
    world.meet();
    let (_, sent) = world.early_client(NOW);
    let shared = register();
    let with = |strikes: Arc<StrikeRegister>| World {
        early: Some(EarlyData::new(strikes)),
        ..world.clone()
    };
    let taken = |world: &World| {
        let mut server = world.server(NOW);
        server.receive(&sent, &ctx(NOW)).unwrap();
        server.take_early_data()
    };
    assert_eq!(taken(&with(shared.clone())), b"early");
    assert_eq!(taken(&with(shared)), b"");
    // This is why servers with the same ticket keys need one common register.
    assert_eq!(taken(&with(register())), b"early");
}

#[test]
fn early_data_that_comes_too_late_or_too_soon_is_skipped() {
    let world = World::plain();
    let taken = |sent_at: UnixTime, came_at: UnixTime| {
        world.meet();
        let (mut client, sent) = world.early_client(sent_at);
        world.arrives((&mut client, &sent), came_at) == b"early"
    };
    let sent_at = NOW.plus(100);
    for (seconds, expected) in [(0, true), (9, true), (10, true), (11, false), (3600, false)] {
        assert_eq!(
            taken(sent_at, sent_at.plus(seconds)),
            expected,
            "{seconds} late"
        );
        if seconds <= 100 {
            // A client whose clock runs fast reports a higher ticket age.
            let came_at = sent_at.minus(seconds);
            assert_eq!(taken(sent_at, came_at), expected, "{seconds} soon");
        }
    }
}

#[test]
fn a_register_that_began_after_the_hello_may_have_been_sent_is_not_relied_on() {
    for (since, expected) in [(NOW.minus(11), true), (NOW.minus(10), false), (NOW, false)] {
        let strikes = Arc::new(StrikeRegister::new(100, since));
        let world = World {
            early: Some(EarlyData::new(strikes)),
            ..World::plain()
        };
        world.meet();
        assert_eq!(world.taken() == b"early", expected);
    }
}

/// A register whose storage is unreachable.
#[derive(Debug)]
struct Away;

impl Strikes for Away {
    fn since(&self) -> UnixTime {
        UnixTime(0)
    }

    fn strike(&self, _hello: &[u8; 32], _until: UnixTime, _now: UnixTime) -> bool {
        false
    }
}

#[test]
fn a_register_that_is_full_or_away_accepts_no_early_data() {
    let full = StrikeRegister::new(1, NOW.minus(1000));
    assert!(full.strike(&[0; 32], NOW.plus(60), NOW));
    let strikes: [Arc<dyn Strikes>; 2] = [Arc::new(full), Arc::new(Away)];
    for strikes in strikes {
        let world = World {
            early: Some(EarlyData::new(strikes)),
            ..World::plain()
        };
        world.meet();
        assert_eq!(world.taken(), b"");
    }
}

#[test]
fn early_data_is_of_who_is_believed_at_that_moment() {
    let world = World::dids();
    world.meet();
    assert_eq!(world.taken(), b"early");
    // The client is revoked between two hellos: a full handshake follows.
    let (mut client, sent) = world.early_client(NOW);
    world.known.is_revoked.store(true, Ordering::SeqCst);
    assert_eq!(world.arrives((&mut client, &sent), NOW), b"");
    world.known.is_revoked.store(false, Ordering::SeqCst);

    // If peers that resume are not judged again, the client resumes without early data.
    let mut world = World::dids();
    world.parties.server.revalidate = None;
    world.meet();
    assert_eq!(world.taken(), b"");
    // Likewise, a client sends no early data to a server that it does not judge again.
    let mut world = World::plain();
    world.parties.client.revalidate = None;
    world.meet();
    assert_eq!(world.client(NOW).send_early(b"early"), Ok(0));
}

#[test]
fn early_data_goes_with_the_tickets_suite_and_protocol_and_with_no_second_hello() {
    let base = {
        let mut world = World::plain();
        world.parties.client.protocols = vec![b"a".to_vec(), b"b".to_vec()];
        world.parties.server.protocols = vec![b"a".to_vec(), b"b".to_vec()];
        world
    };
    let taken = |change: &dyn Fn(&mut World)| {
        base.meet();
        let (mut client, sent) = base.early_client(NOW);
        let mut world = base.clone();
        change(&mut world);
        world.arrives((&mut client, &sent), NOW)
    };
    assert_eq!(taken(&|_| {}), b"early");
    assert_eq!(
        taken(&|world| world.parties.server.groups = vec![Group::SECP256R1]),
        b""
    );
    // The ticket has the same hash, so it resumes.
    assert_eq!(
        taken(&|world| world.parties.server.suites = vec![Suite::CHACHA20_POLY1305_SHA256]),
        b""
    );
    assert_eq!(
        taken(&|world| world.parties.server.suites = vec![Suite::AES_256_GCM_SHA384]),
        b""
    );
    assert_eq!(
        taken(&|world| world.parties.keys = TicketKeys::new([9; 32])),
        b""
    );
    assert_eq!(
        taken(&|world| world.parties.server.protocols = vec![b"b".to_vec(), b"a".to_vec()]),
        b""
    );
}

#[test]
fn early_data_that_is_cut_off_is_no_data_of_the_connection() {
    let world = World::plain();
    world.meet();
    let (_, sent) = world.early_client(NOW);
    let mut server = world.server(NOW);
    server.receive(&sent, &ctx(NOW)).unwrap();
    assert_eq!(server.receive_end(), Err(Error::Truncated));
    assert!(!server.is_open() && server.early_peer().is_none());
    assert_eq!(server.take_incoming(), b"");
}

#[test]
fn no_more_early_data_is_sent_or_taken_than_the_ticket_allows() {
    let world = World {
        early: Some(EarlyData::new(register()).of_bytes(8)),
        ..World::plain()
    };
    world.meet();
    let mut client = world.client(NOW);
    assert_eq!(client.send_early(b"0123456789"), Ok(8));
    assert_eq!(client.send_early(b"89"), Ok(0));
    let sent = client.take_outgoing();
    assert_eq!(world.arrives((&mut client, &sent), NOW), b"01234567");

    // A client that exceeds the limit.
    world.meet();
    let (mut puppet, mut server) = early_puppet(&world);
    puppet.send_data(&mut server, b"01234567").unwrap();
    assert_eq!(server.take_early_data(), b"01234567");
    let got = puppet.send_data(&mut server, b"8");
    assert_eq!(alert(got), Alert::UnexpectedMessage);
}

/// A puppet client whose early data was accepted.
fn early_puppet(world: &World) -> (Puppet, Connection) {
    let session = world.session();
    world.parties.sessions.clear();
    let mut hello = super::resumption::hello_of(&mut world.client(NOW));
    hello.session_id.clear();
    hello.extensions.0.push(Extension::EarlyData);
    let mut server = world.server(NOW);
    let profile = &crate::profile::PAPER;
    let asked = Puppet::ask(&mut server, (hello, profile), Some(&session));
    let (puppet, flight) = asked.unwrap();
    assert!(
        flight.contains(&Message::EncryptedExtensions(Extensions(vec![
            Extension::EarlyData
        ])))
    );
    (puppet, server)
}

#[test]
fn the_end_of_early_data_stands_alone_at_its_end() {
    let world = World::plain();
    let started = || {
        world.meet();
        early_puppet(&world)
    };
    // Without EndOfEarlyData, Finished is not accepted.
    let (mut puppet, mut server) = started();
    let finished = puppet.finished();
    let got = puppet.send(&mut server, &finished);
    assert_eq!(alert(got), Alert::UnexpectedMessage);

    // After EndOfEarlyData, no more records under its key.
    let (mut puppet, mut server) = started();
    puppet.send(&mut server, &Message::EndOfEarlyData).unwrap();
    let got = puppet.send_data(&mut server, b"late");
    assert_eq!(alert(got), Alert::BadRecordMac);

    // Nor application data under the handshake key.
    let (mut puppet, mut server) = started();
    puppet.send(&mut server, &Message::EndOfEarlyData).unwrap();
    puppet.end_early();
    let got = puppet.send_data(&mut server, b"late");
    assert_eq!(alert(got), Alert::UnexpectedMessage);

    // EndOfEarlyData must be the last message of its record.
    let (mut puppet, mut server) = started();
    let got = puppet.send_raw(&mut server, &[5, 0, 0, 0, 20]);
    assert_eq!(alert(got), Alert::UnexpectedMessage);

    // EndOfEarlyData must be empty.
    let (mut puppet, mut server) = started();
    let got = puppet.send_raw(&mut server, &[5, 0, 0, 1, 0]);
    assert_eq!(alert(got), Alert::DecodeError);

    // In the right order, everything is accepted.
    let (mut puppet, mut server) = started();
    puppet.send_data(&mut server, b"early").unwrap();
    puppet.send(&mut server, &Message::EndOfEarlyData).unwrap();
    puppet.end_early();
    let finished = puppet.finished();
    puppet.send(&mut server, &finished).unwrap();
    assert!(server.is_open());
    assert_eq!(server.peer().unwrap().kind, PeerKind::Anonymous);
    assert_eq!(server.take_early_data(), b"early");
}

#[test]
fn early_data_is_not_taken_across_a_message_nor_without_its_key() {
    let world = World::plain();
    world.meet();
    let (mut puppet, mut server) = early_puppet(&world);
    // Early data between the fragments of a message.
    puppet
        .send_record(&mut server, ContentType::Handshake, &[5, 0])
        .unwrap();
    let got = puppet.send_data(&mut server, b"early");
    assert_eq!(alert(got), Alert::UnexpectedMessage);

    world.meet();
    let (_, mut sent) = world.early_client(NOW);
    *sent.last_mut().unwrap() ^= 1;
    let got = world.server(NOW).receive(&sent, &ctx(NOW));
    assert_eq!(alert(got), Alert::BadRecordMac);
}

#[test]
fn a_server_takes_early_data_only_if_it_was_sent_and_by_the_ticket_it_was_sent_with() {
    let taking = Message::EncryptedExtensions(Extensions(vec![Extension::EarlyData]));
    // The client sent none.
    let mut world = World::plain();
    world.parties.client.revalidate = None;
    world.meet();
    let session = world.session();
    world
        .parties
        .sessions
        .insert(world.client_config().digest, session.clone());
    let mut client = world.client(NOW);
    let mut puppet = Puppet::resuming_server(&mut client, &session.secret);
    let got = puppet.send(&mut client, &taking);
    assert_eq!(alert(got), Alert::UnsupportedExtension);

    let world = World::plain();
    world.meet();
    let session = world.session();
    let early_client = || {
        world
            .parties
            .sessions
            .insert(world.client_config().digest, session.clone());
        world.client(NOW)
    };
    // The server accepts the data, but not the ticket.
    let mut client = early_client();
    let (mut puppet, failed) = Puppet::server_with(&mut client, |_: &mut ServerHello| {});
    assert_eq!(failed, None);
    let got = puppet.send(&mut client, &taking);
    assert_eq!(alert(got), Alert::IllegalParameter);
    // The server accepts both, with another application protocol than the ticket's.
    let mut other = world.clone();
    other.parties.client.protocols = vec![b"a".to_vec()];
    other
        .parties
        .sessions
        .insert(other.client_config().digest, session.clone());
    let mut client = other.client(NOW);
    let mut puppet = Puppet::resuming_server(&mut client, &session.secret);
    let named = Message::EncryptedExtensions(Extensions(vec![
        Extension::EarlyData,
        Extension::Protocols(vec![b"a".to_vec()]),
    ]));
    let got = puppet.send(&mut client, &named);
    assert_eq!(alert(got), Alert::IllegalParameter);
    // The server accepts both correctly.
    let mut client = early_client();
    let mut puppet = Puppet::resuming_server(&mut client, &session.secret);
    puppet.send(&mut client, &taking).unwrap();
    assert!(client.is_early_data_taken());
}

#[test]
fn a_changed_bit_of_a_hello_or_of_what_follows_it_gives_no_early_data() {
    let world = World::plain();
    world.meet();
    let (_, sent) = world.early_client(NOW);
    let hello = 5..5 + usize::from(u16::from_be_bytes([sent[3], sent[4]]));
    for at in 0..sent.len() {
        let mut changed = sent.clone();
        changed[at] ^= 1 << (at % 8);
        let mut server = world.server(NOW);
        let got = server.receive(&changed, &ctx(NOW));
        let early = server.take_early_data();
        // Nothing of the changed record is returned, nor what came before it, once the connection has failed.
        let is_whole = early == b"early" && got.is_ok() && !hello.contains(&at);
        let is_waiting = early == b"ear" && got.is_ok() && at > hello.end;
        assert!(
            early.is_empty() || is_whole || is_waiting,
            "byte {at}: {early:?}"
        );
        assert!(!server.is_open());
    }
}
