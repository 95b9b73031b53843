//! Writes the inputs that fuzzing starts from: `cargo run -p selfsame-testkit --example fuzz_seeds -- fuzz/corpus`.

use std::{env, fs, io, path::PathBuf};

use selfsame_testkit::fuzz_bodies::TARGETS;

fn main() -> io::Result<()> {
    let Some(corpus) = env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other(
            "the folder to write into is missing, such as fuzz/corpus",
        ));
    };
    for target in TARGETS {
        let folder = corpus.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
