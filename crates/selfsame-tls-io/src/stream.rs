//! A connection as a stream of tokio's: what is kept is bounded, what waits is woken, an end is not a cut.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use selfsame_tls::identity::Peer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::{Error, to_io};
use crate::farewell::{FAREWELL, leave};
use crate::session::Session;
use crate::settings::Clock;
use crate::watch::Lapse;

/// Bytes that are read from the socket at a time.
const CHUNK: usize = 16 * 1024;

/// A connection whose peer was accepted.
///
/// Reading ends (with 0 bytes) when the peer has said that it sends no more; a socket that ends without that is an
/// error, [`io::ErrorKind::UnexpectedEof`]. `shutdown` says that we send no more, and leaves reading as it is. What was
/// written is on its way after a `flush`. Dropped without `shutdown`, the peer sees a cut.
pub struct Stream<S> {
    stream: S,
    session: Session,
    clock: Clock,
    peer: Arc<Peer>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    lapse: Option<Lapsing>,
    /// Why data that was taken is not on its way, which the call after that is told.
    late: Option<io::Error>,
}

/// Done when the connection has to end.
type Lapsing = Pin<Box<dyn Future<Output = Lapse> + Send>>;

impl<S: std::fmt::Debug> std::fmt::Debug for Stream<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("stream", &self.stream)
            .field("peer", &self.peer.kind)
            .finish_non_exhaustive()
    }
}

impl<S> Stream<S> {
    pub(crate) fn new(session: Session, stream: S, clock: Clock) -> Result<Self, Error> {
        let missing = selfsame_tls::Error::Misused("the handshake is not done yet");
        let peer = Arc::new(session.peer().ok_or(missing)?.clone());
        Ok(Self {
            stream,
            session,
            clock,
            peer,
            reader: None,
            writer: None,
            lapse: None,
            late: None,
        })
    }

    /// The same, which ends as soon as `lapse` says why: the peer is told, and whoever reads or writes gets an error. It
    /// is for those who give the stream away, to what reads it all the time; others await a lapse beside what they do,
    /// and call [`Stream::end`].
    #[must_use]
    pub fn watched(self, lapse: impl Future<Output = Lapse> + Send + 'static) -> Self {
        let lapse: Lapsing = Box::pin(lapse);
        Self {
            lapse: Some(lapse),
            ..self
        }
    }

    /// Who the peer is, and each rule that was looked at.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// The connection, for what else is known of it: its protocol, its parameters, key material for others.
    pub fn connection(&self) -> &selfsame_tls::Connection {
        self.session.connection()
    }

    /// The transport.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// Takes new keys for what we send, and asks the peer for the same; on its way with the next write or flush.
    ///
    /// # Errors
    /// If we have said that we send no more.
    pub fn update_keys(&mut self) -> Result<(), Error> {
        Ok(self.session.update_keys()?)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    /// Ends the connection whatever its ends want, and lets the peer read why; that takes a second at most.
    pub async fn end(&mut self, lapse: Lapse) {
        self.session.refuse(lapse.refusal());
        let told = leave(&mut self.session, &mut self.stream);
        let _best_effort = tokio::time::timeout(FAREWELL, told).await;
    }
}

impl<S: AsyncWrite + Unpin> Stream<S> {
    /// Whether it has to end; the peer is told if so.
    fn poll_lapse(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let Some(Poll::Ready(lapse)) = self.lapse.as_mut().map(|lapse| lapse.as_mut().poll(cx))
        else {
            return Ok(());
        };
        self.lapse = None;
        self.session.refuse(lapse.refusal());
        let _told_if_it_fits = self.poll_send(cx);
        Err(io::Error::new(io::ErrorKind::ConnectionAborted, lapse))
    }

    /// Hands all that is protected to the transport.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.session.to_send().is_empty() {
            let sent = Pin::new(&mut self.stream).poll_write(cx, self.session.to_send());
            match ready!(sent)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.session.sent(count),
            }
        }
        // Who waited for this may be another task than the one that did it.
        for waker in [self.reader.take(), self.writer.take()]
            .into_iter()
            .flatten()
        {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }

    /// The same for a writer, which is woken by whoever gets on.
    fn poll_send_for_writer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.late.take().map_or(Ok(()), Err)?;
        let sent = self.poll_send(cx);
        if sent.is_pending() {
            self.writer = Some(cx.waker().clone());
        }
        sent
    }

    /// The same for a reader, who must not wait for it unless too much waits. A transport knows one task that waits to
    /// write: where a writer does, it is left to it.
    fn poll_send_for_reader(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = match self.writer {
            Some(_) if !self.session.to_send().is_empty() => Poll::Pending,
            _ => self.poll_send(cx),
        };
        match sent {
            Poll::Pending if self.session.is_clogged() => {
                self.reader = Some(cx.waker().clone());
                Poll::Pending
            }
            Poll::Pending => Poll::Ready(Ok(())),
            done => done,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.poll_lapse(cx)?;
        loop {
            if let Some(count) = this.session.read(buffer.initialize_unfilled())? {
                buffer.advance(count);
                return Poll::Ready(Ok(()));
            }
            this.late.take().map_or(Ok(()), Err)?;
            ready!(this.poll_send_for_reader(cx))?;
            let mut chunk = [MaybeUninit::uninit(); CHUNK];
            let mut chunk = ReadBuf::uninit(&mut chunk);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut chunk))?;
            let received = this.session.receive(chunk.filled(), &(this.clock)());
            if let Err(error) = received {
                // The alert is small: if the socket has no room for it, the peer is not reading.
                let _told_if_it_fits = this.poll_send(cx);
                return Poll::Ready(Err(to_io(error)));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.poll_lapse(cx)?;
        ready!(this.poll_send_for_writer(cx))?;
        let count = this.session.write(data)?;
        // It is taken: what of it does not fit now goes with the next call, and an error would have it written again.
        if let Poll::Ready(Err(error)) = this.poll_send(cx) {
            this.late = Some(error);
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send_for_writer(cx))?;
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.session.close();
        ready!(this.poll_send_for_writer(cx))?;
        Pin::new(&mut this.stream).poll_shutdown(cx)
    }
}
