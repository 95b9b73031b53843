//! Each call of a sign-in goes to another process. The one that answered is killed, and the database crashes.

use crate::browser::{SigningBrowser, userinfo};
use crate::esignet::{SevenCalls, WRONG, assert_no_errors, code};
use crate::party::{SecretParty, SigningParty, assert_oauth_error, member};
use crate::place::{CalledReplica, SECRET, SETTINGS, add_person, until_answered};
use crate::postgres_server::Server;
use crate::replicas_rig::Replicas;

/// The processes: one more than there are calls.
const PROCESSES: usize = 8;

/// The processes and their database.
struct Failing {
    server: Server,
    replicas: Replicas,
    /// The process that is called next.
    next: usize,
}

impl Failing {
    fn start() -> Self {
        let server = Server::start(&["max_connections=400"]);
        let replicas = Replicas::configured(SETTINGS, &server.fresh(), PROCESSES);
        Self {
            server,
            replicas,
            next: 0,
        }
    }

    /// The process that is called now.
    fn here(&self) -> CalledReplica {
        CalledReplica::of(&self.replicas, self.next)
    }

    /// Kills the process that was called, and goes on to the next one. The database crashes each second time.
    fn fail(&mut self) {
        self.replicas.kill(self.next);
        if self.next % 2 == 1 {
            self.server.end("KILL");
            self.server.run();
        }
        self.next += 1;
        self.here().is_ready();
    }
}

#[test]
fn sign_ins_go_on_at_other_processes_when_one_is_killed_after_each_call_and_the_database_crashes() {
    let mut world = Failing::start();
    add_person(&world.here());
    let operator = world.replicas.operator();
    let party = SigningParty::register(&world.here(), operator.token());
    let other = SecretParty::register(&world.here(), operator.token());

    let mut calls = SevenCalls::default();
    calls.csrf(&world.here());
    world.fail();
    calls.details(&world.here(), &party);
    let browser = SigningBrowser::arrive(&world.here(), &other);
    world.fail();
    assert_no_errors(&calls.send_otp(&world.here()));
    let view = browser.authenticate(&world.here());
    world.fail();
    assert_no_errors(&calls.authenticate(&world.here(), SECRET));
    let given = browser.agree(&world.here(), &view);
    world.fail();
    calls.agree(&world.here());
    let tokens = until_answered(&other.redemption(&world.here(), &given));
    world.fail();
    calls.redeem(&world.here(), &party);
    let refreshing = other.refreshing(&world.here(), &member(&tokens, "/refresh_token"));
    let refreshed = until_answered(&refreshing);
    let access = member(&refreshed, "/access_token");
    world.fail();
    assert_eq!(calls.userinfo(&world.here()).status, 200);
    assert_eq!(userinfo(&world.here(), &access).status, 200);
    world.fail();
    // A code that comes a second time ends what it gave, wherever it comes.
    for redemption in [
        party.redemption(&world.here(), &calls.code),
        other.redemption(&world.here(), &given),
    ] {
        assert_oauth_error(&until_answered(&redemption), "invalid_grant");
    }
    assert_eq!(calls.userinfo(&world.here()).status, 401);
    assert_eq!(userinfo(&world.here(), &access).status, 401);
}

#[test]
fn guesses_are_counted_over_all_processes_though_each_is_killed_and_the_database_crashes() {
    let mut world = Failing::start();
    add_person(&world.here());
    let operator = world.replicas.operator();
    let party = SigningParty::register(&world.here(), operator.token());
    let mut calls = SevenCalls::default();
    calls.csrf(&world.here());
    calls.details(&world.here(), &party);
    assert_no_errors(&calls.send_otp(&world.here()));
    for _ in 0..3 {
        world.fail();
        let guess = calls.authenticate(&world.here(), WRONG);
        assert_eq!(code(&guess), "auth_failed");
    }
    world.fail();
    let right = calls.authenticate(&world.here(), SECRET);
    assert_eq!(code(&right), "no_attempts_left");
    world.fail();
    let mut again = SevenCalls::default();
    again.csrf(&world.here());
    again.details(&world.here(), &party);
    assert_eq!(
        code(&again.send_otp(&world.here())),
        "individual_id_blocked"
    );
}
