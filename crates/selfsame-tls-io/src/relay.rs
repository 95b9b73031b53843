//! Joins two streams: copies both ways, ends each direction by itself, bounds idle time, passes a cut on as a cut.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};

/// Bytes in transit in one direction.
const CHUNK: usize = 8 * 1024;

/// Bytes carried.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Carried {
    /// From the first stream to the second.
    pub up: u64,
    /// From the second stream to the first.
    pub down: u64,
}

/// Copies bytes both ways until both directions have ended. When one stream ends, the other is shut down for writing,
/// and the other direction continues. After `idle` without a byte in either direction, or after an error of either
/// stream, both are left as they are: dropping them without a `shutdown` tells the peers that they were cut.
pub async fn relay<A, B>(one: &mut A, other: &mut B, idle: Duration) -> (Carried, io::Result<()>)
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    relay_until(one, other, idle, std::future::pending()).await
}

/// Like `relay`, and cut as soon as `end` resolves with the reason.
pub async fn relay_until<A, B>(
    one: &mut A,
    other: &mut B,
    idle: Duration,
    end: impl Future<Output = io::Error>,
) -> (Carried, io::Result<()>)
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (up, down) = (AtomicU64::new(0), AtomicU64::new(0));
    let (one_reads, one_writes) = split(one);
    let (other_reads, other_writes) = split(other);
    let both = async {
        tokio::try_join!(
            carry(one_reads, other_writes, &up),
            carry(other_reads, one_writes, &down)
        )
    };
    let ended = tokio::select! {
        ended = both => ended.map(|_| ()),
        () = silence(&up, &down, idle) => Err(io::ErrorKind::TimedOut.into()),
        why = end => Err(why),
    };
    let carried = Carried {
        up: up.into_inner(),
        down: down.into_inner(),
    };
    (carried, ended)
}

async fn carry<R, W>(
    mut from: ReadHalf<R>,
    mut to: WriteHalf<W>,
    count: &AtomicU64,
) -> io::Result<()>
where
    R: AsyncRead,
    W: AsyncWrite,
{
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = from.read(&mut chunk).await?;
        let Some(bytes) = chunk.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return to.shutdown().await;
        };
        to.write_all(bytes).await?;
        to.flush().await?;
        count.fetch_add(u64::try_from(read).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Returns once no byte has moved in either direction for `idle`.
async fn silence(up: &AtomicU64, down: &AtomicU64, idle: Duration) {
    let seen = || (up.load(Ordering::Relaxed), down.load(Ordering::Relaxed));
    let mut before = seen();
    loop {
        tokio::time::sleep(idle).await;
        let now = seen();
        if now == before {
            return;
        }
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn each_direction_ends_by_itself() {
        let (mut client, mut one) = duplex(64);
        let (mut other, mut server) = duplex(64);
        let relayed = tokio::spawn(async move { relay(&mut one, &mut other, IDLE).await });
        client.write_all(b"question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut question = String::new();
        server.read_to_string(&mut question).await.unwrap();
        assert_eq!(question, "question");
        server.write_all(b"the answer").await.unwrap();
        server.shutdown().await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "the answer");
        let (carried, ended) = relayed.await.unwrap();
        assert!(ended.is_ok());
        assert_eq!(carried, Carried { up: 8, down: 10 });
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_it_and_a_slow_talk_does_not() {
        let (mut client, mut one) = duplex(64);
        let (mut other, _server) = duplex(64);
        let relayed = tokio::spawn(async move { relay(&mut one, &mut other, IDLE).await });
        for _ in 0..5 {
            tokio::time::sleep(IDLE / 2).await;
            client.write_all(b"x").await.unwrap();
        }
        let (carried, ended) = relayed.await.unwrap();
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(carried, Carried { up: 5, down: 0 });
    }
}
