//! A connection as a tokio stream: buffers are bounded, waiting tasks are woken, a cut is not reported as an end.

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
use crate::settings::HandshakeClock;
use crate::watch::Lapse;

/// Bytes read from the socket at a time.
const CHUNK: usize = 16 * 1024;

/// A connection to an accepted peer.
///
/// Reads return 0 bytes once the peer has said that it sends no more; a socket that ends without that is an error,
/// [`io::ErrorKind::UnexpectedEof`]. `shutdown` says that we send no more, and leaves reading open. Call `flush` to
/// have written data sent. If the stream is dropped without `shutdown`, the peer sees a cut.
pub struct Stream<S> {
    stream: S,
    session: Session,
    clock: HandshakeClock,
    peer: Arc<Peer>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    lapse: Option<Lapsing>,
    /// Why accepted data could not be sent; the next call returns it.
    late: Option<io::Error>,
}

/// Resolves when the connection has to end.
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
    pub(crate) fn new(session: Session, stream: S, clock: HandshakeClock) -> Result<Self, Error> {
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

    /// Ends the connection as soon as `lapse` resolves: the peer gets an alert, and reads and writes fail. Use it if
    /// the stream is handed to code that reads all the time; otherwise await the lapse alongside other work, and call
    /// [`Stream::end`].
    #[must_use]
    pub fn watched(self, lapse: impl Future<Output = Lapse> + Send + 'static) -> Self {
        let lapse: Lapsing = Box::pin(lapse);
        Self {
            lapse: Some(lapse),
            ..self
        }
    }

    /// The peer, and each rule that was checked.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// The connection, for its protocol, its parameters and exported key material.
    pub fn connection(&self) -> &selfsame_tls::Connection {
        self.session.connection()
    }

    /// The transport.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// Changes our sending key, and asks the peer to change its own; sent with the next write or flush.
    ///
    /// # Errors
    /// If we have said that we send no more.
    pub fn update_keys(&mut self) -> Result<(), Error> {
        Ok(self.session.update_keys()?)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    /// Ends the connection, and lets the peer read the alert; takes at most a second.
    pub async fn end(&mut self, lapse: Lapse) {
        self.session.refuse(lapse.refusal());
        let told = leave(&mut self.session, &mut self.stream);
        let _best_effort = tokio::time::timeout(FAREWELL, told).await;
    }
}

impl<S: AsyncWrite + Unpin> Stream<S> {
    /// Fails if the connection has to end, and sends the peer an alert.
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

    /// Writes all protected bytes to the transport.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.session.to_send().is_empty() {
            let sent = Pin::new(&mut self.stream).poll_write(cx, self.session.to_send());
            match ready!(sent)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.session.sent(count),
            }
        }
        // The task that waits for this may be another than the one that completed it.
        for waker in [self.reader.take(), self.writer.take()]
            .into_iter()
            .flatten()
        {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }

    /// Sends for a writer, which is woken when another task completes the sending.
    fn poll_send_for_writer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.late.take().map_or(Ok(()), Err)?;
        let sent = self.poll_send(cx);
        if sent.is_pending() {
            self.writer = Some(cx.waker().clone());
        }
        sent
    }

    /// Sends for a reader, which waits for it only if too much is unsent. A transport remembers one waker for writing,
    /// so a reader leaves the sending to a writer that waits.
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
                // The alert is small: if it does not fit into the socket's buffer, the peer is not reading.
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
        // The data is accepted: what does not fit now is sent by the next call, and an error would make the caller
        // write it again.
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
