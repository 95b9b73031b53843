//! `selfsame up --validators 4`: a network on this machine that starts and stops with the instance.

use std::path::Path;

use crate::instance::free_port;
use crate::processes::{Running, processes_of, selfsame, signal, until, walks};
use crate::turn;

struct Up {
    running: Running,
    origin: String,
}

fn up(data: &Path, port: u16) -> Up {
    let mut command = selfsame();
    command.args(["up", "--no-demo", "--validators", "4", "--listen"]);
    command
        .arg(format!("127.0.0.1:{port}"))
        .arg("--data")
        .arg(data);
    let mut running = Running::start(&mut command, &data.with_extension("log"));
    running.says("Ctrl-C");
    Up {
        running,
        origin: format!("http://localhost:{port}/"),
    }
}

#[test]
fn the_scenario_walks_on_four_validators_with_one_killed_and_nothing_is_left_behind() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let token = data.join("operator-token");
    let port = free_port();
    let mut first = up(&data, port);
    walks(&first.origin, &token);

    let home = data.join("network/node-2").display().to_string();
    let of_node = |name: &str| {
        let mut all = processes_of(&home).into_iter();
        all.find(|(_, line)| line.contains(name))
    };
    let (killed, _) = of_node("registry node").unwrap();
    signal(killed, "-KILL");
    walks(&first.origin, &token);
    first.running.says("node-2 ended");
    until("the killed node is started again", || {
        of_node("registry node").is_some_and(|(id, _)| id != killed)
    });

    first.running.stop();
    until("nothing is left behind", || {
        processes_of(&data.display().to_string()).is_empty()
    });

    // The same network starts again, and ends with its instance, however that ends.
    let mut again = up(&data, port);
    walks(&again.origin, &token);
    again.running.kill();
    until("nothing is left behind by what was killed", || {
        processes_of(&data.display().to_string()).is_empty()
    });
}

#[test]
fn another_number_of_validators_than_there_are_is_refused_with_the_number() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let network = folder.path().join("network");
    let mut init = selfsame();
    init.args(["registry", "init", "--validators", "2"]);
    crate::processes::ends_with(0, init.arg(&network));
    let mut command = selfsame();
    command.args(["up", "--validators", "4", "--data"]);
    let said = crate::processes::ends_with(2, command.arg(folder.path()));
    assert!(said.contains("--validators 2"), "{said}");
}
