//! How the nodes of a network on this machine are run: by this program, leashed to this process.

use selfsame_abci::Engine;
use selfsame_network::loopback::{NodeKeeping, NodeNews};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;

/// Runs each node by `selfsame registry node` with this engine, and reports what happens to it.
///
/// # Errors
/// If this program's own file can't be found.
pub fn keeping(engine: &Engine) -> Result<NodeKeeping, Failure> {
    let arguments = ["registry", "node", "--leashed", "--engine"];
    let engine = engine.program().as_os_str();
    Ok(NodeKeeping {
        program: std::env::current_exe()?,
        arguments: (arguments.map(Into::into).into_iter())
            .chain([engine.to_owned()])
            .collect(),
        tell: |news| output::complain(&words(news)),
    })
}

fn words(news: &NodeNews) -> String {
    match news {
        NodeNews::Late { logs, all } => {
            let files: Vec<_> = logs.iter().map(|log| log.display().to_string()).collect();
            format!(
                "selfsame: {} of {all} nodes do not serve yet, the others continue; for the reason see {}",
                logs.len(),
                files.join(", ")
            )
        }
        NodeNews::NotStarted { name, reason } => format!("selfsame: {name}: {reason}"),
        NodeNews::Ended { name, how } => {
            format!("selfsame: {name} ended ({how}); the others continue, and it is started again")
        }
        NodeNews::Killed { name } => format!("selfsame: {name} did not stop and is killed"),
    }
}
