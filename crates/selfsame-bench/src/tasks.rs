//! Tasks of a measurement, some at once.

use std::future::Future;

use tokio::task::JoinSet;

use crate::{Error, Progress};

/// What the next of the tasks that ends has done.
///
/// # Errors
/// Its own, or if no task is under way.
pub async fn ended<T: 'static>(tasks: &mut JoinSet<Result<T, Error>>) -> Result<T, Error> {
    match tasks.join_next().await {
        Some(joined) => joined.map_err(|error| Error::Server(error.to_string()))?,
        None => Err(Error::Server("no task is under way".to_owned())),
    }
}

/// Carries out all of these, `at_once` at a time, and reports each that ends. Returns what they have done, in the order in
/// which they ended.
///
/// # Errors
/// The first that one of them returns.
pub async fn all<T: Send + 'static>(
    tasks: impl IntoIterator<Item = impl Future<Output = Result<T, Error>> + Send + 'static>,
    at_once: usize,
    progress: &dyn Progress,
) -> Result<Vec<T>, Error> {
    let (mut running, mut done) = (JoinSet::new(), Vec::new());
    for task in tasks {
        if running.len() >= at_once {
            done.push(ended(&mut running).await?);
            progress.advance(1);
        }
        running.spawn(task);
    }
    while !running.is_empty() {
        done.push(ended(&mut running).await?);
        progress.advance(1);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[tokio::test]
    async fn all_tasks_are_done_and_a_failure_is_returned() {
        let task = |number: u32| async move {
            match number {
                7 => Err(Error::Server("seven".to_owned())),
                number => Ok(number),
            }
        };
        let mut done = all((0..7).map(task), 3, &Silent).await.unwrap();
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3, 4, 5, 6]);
        let failed = all((0..9).map(task), 3, &Silent).await.unwrap_err();
        assert_eq!(failed.to_string(), "the measured server: seven");
    }
}
