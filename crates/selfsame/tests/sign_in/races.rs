//! What can be used once is used once, however many callers try at two processes, and what was used goes in the end.

use std::sync::{Arc, Barrier};
use std::thread;

use crate::browser::{SigningBrowser, authorization, parameters, userinfo};
use crate::esignet::SevenCalls;
use crate::http::{Reply, Request};
use crate::party::{SecretParty, SigningParty, assert_oauth_error, member};
use crate::place::{CalledReplica, SETTINGS, add_person, until_answered};
use crate::postgres_server::Server;
use crate::replicas_rig::Replicas;

/// The callers of a race, half of them at each process.
const CALLERS: usize = 32;
/// How often each thing is raced for.
const ROUNDS: usize = 4;

/// The processes, and what is registered at them.
struct Racing {
    replicas: Replicas,
    party: SigningParty,
    other: SecretParty,
}

impl Racing {
    fn start() -> Self {
        let replicas = Replicas::configured(SETTINGS, &Server::shared().fresh(), 2);
        let (at, operator) = (CalledReplica::of(&replicas, 0), replicas.operator());
        add_person(&at);
        Self {
            party: SigningParty::register(&at, operator.token()),
            other: SecretParty::register(&at, operator.token()),
            replicas,
        }
    }

    fn at(&self, number: usize) -> CalledReplica {
        CalledReplica::of(&self.replicas, number % 2)
    }

    fn code(&self, number: usize) -> String {
        SigningBrowser::code(&self.at(number), &self.other)
    }

    /// The answers to callers who send requests at the same time.
    fn race(&self, request: impl Fn(&CalledReplica) -> Request) -> Vec<Reply> {
        let start = Arc::new(Barrier::new(CALLERS));
        let callers = (0..CALLERS).map(|number| {
            let (request, start) = (request(&self.at(number)), start.clone());
            thread::spawn(move || {
                start.wait();
                request.send().unwrap()
            })
        });
        let callers: Vec<_> = callers.collect();
        let replies = callers.into_iter().map(|caller| caller.join().unwrap());
        replies.collect()
    }
}

/// The one answer that is no refusal; all others have this code.
#[track_caller]
fn winner(replies: Vec<Reply>, code: &str) -> Reply {
    let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status < 400);
    for reply in lost {
        assert_oauth_error(&reply, code);
    }
    let [winner] = <[Reply; 1]>::try_from(won).unwrap();
    winner
}

#[test]
fn of_many_callers_at_two_processes_one_redeems_a_code_and_a_later_one_ends_what_it_gave() {
    let world = Racing::start();
    for round in 0..ROUNDS {
        let code = world.code(round);
        let won = winner(
            world.race(|at| world.other.redemption(at, &code)),
            "invalid_grant",
        );
        let late = until_answered(&world.other.redemption(&world.at(round), &code));
        assert_oauth_error(&late, "invalid_grant");
        let ended = userinfo(&world.at(round + 1), &member(&won, "/access_token"));
        assert_eq!(ended.status, 401);
        let calls = SevenCalls::until_code(&world.at(round), &world.party);
        winner(
            world.race(|at| world.party.redemption(at, &calls.code)),
            "invalid_grant",
        );
    }
}

#[test]
fn of_many_callers_at_two_processes_one_redeems_a_refresh_token_and_the_others_end_it() {
    let world = Racing::start();
    for round in 0..ROUNDS {
        let code = world.code(round);
        let tokens = until_answered(&world.other.redemption(&world.at(round), &code));
        let token = member(&tokens, "/refresh_token");
        let won = winner(
            world.race(|at| world.other.refreshing(at, &token)),
            "invalid_grant",
        );
        let next = member(&won, "/refresh_token");
        let ended = until_answered(&world.other.refreshing(&world.at(round), &next));
        assert_oauth_error(&ended, "invalid_grant");
    }
}

#[test]
fn of_many_browsers_at_two_processes_one_takes_a_pushed_request() {
    let world = Racing::start();
    for round in 0..ROUNDS {
        let pushing = world
            .other
            .call(&world.at(round), "par", &parameters(&world.other));
        let pushed = until_answered(&pushing);
        assert_eq!(pushed.status, 201);
        let uri = member(&pushed, "/request_uri");
        let named = [
            ("client_id", world.other.id.as_str()),
            ("request_uri", &uri),
        ];
        let replies = world.race(|at| authorization(at, &named));
        let began = replies.iter().filter(|reply| reply.status == 303);
        assert_eq!(began.count(), 1, "{replies:?}");
        for reply in replies.iter().filter(|reply| reply.status != 303) {
            assert_eq!(reply.status, 400, "{reply:?}");
        }
    }
}

#[test]
fn whatever_a_sign_in_leaves_in_the_database_has_an_end() {
    let world = Racing::start();
    let code = world.code(0);
    until_answered(&world.other.redemption(&world.at(0), &code));
    let mut calls = SevenCalls::until_code(&world.at(1), &world.party);
    calls.redeem(&world.at(1), &world.party);
    let (_, schema) = world.replicas.url.split_once("?schema=").unwrap();
    let kinds = |condition: &str| {
        let query = format!(
            "SELECT DISTINCT kind FROM {schema}.records WHERE expires {condition} AND (kind LIKE 'oidc%'
             OR kind LIKE 'sign_in%' OR kind LIKE 'esignet%' OR kind LIKE 'mock%') ORDER BY kind"
        );
        Server::shared().ask(&query)
    };
    assert_eq!(
        kinds("IS NULL"),
        "mock_person\nmock_signing\noidc_client\noidc_keys"
    );
    assert_eq!(
        kinds("IS NOT NULL"),
        "oidc_spent\nsign_in\nsign_in_consent\nsign_in_past"
    );
}
