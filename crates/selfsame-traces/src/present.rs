//! The present span of a task: the one that new spans are below.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::attribute::Attribute;
use crate::context::TraceContext;
use crate::span::{Node, SpanEnd, SpanKind, TraceSpan};
use crate::tracer::{is_on, tracer};

thread_local! {
    static PRESENT: RefCell<Option<Arc<Node>>> = const { RefCell::new(None) };
}

pin_project! {
    /// A future with a span that is the present one while it runs.
    #[must_use = "futures do nothing unless polled"]
    pub struct Traced<F: Future> {
        node: Option<Arc<Node>>,
        // Whether the span ends with the future.
        is_owner: bool,
        judge: fn(&F::Output) -> SpanEnd,
        #[pin]
        future: F,
    }

    impl<F: Future> PinnedDrop for Traced<F> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Some(live) = this.node.as_ref().and_then(|node| node.live.as_ref())
                && *this.is_owner
            {
                live.fail("cancelled");
                live.end();
            }
        }
    }
}

impl<F: Future> Traced<F> {
    pub(crate) fn new(
        node: Option<Arc<Node>>,
        future: F,
        judge: fn(&F::Output) -> SpanEnd,
    ) -> Self {
        Self {
            node,
            is_owner: true,
            judge,
            future,
        }
    }
}

impl<F: Future> Future for Traced<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if this.node.is_none() {
            return this.future.poll(context);
        }
        let polled = {
            let entered = Entered::enter(this.node.take());
            let polled = this.future.poll(context);
            *this.node = entered.leave();
            polled
        };
        if let Poll::Ready(output) = &polled
            && let Some(node) = this.node.take()
            && let (Some(live), true) = (&node.live, *this.is_owner)
        {
            live.end_as((this.judge)(output));
        }
        polled
    }
}

/// A span that is the present one of this thread; the former one is again when this is left, or dropped by a panic.
struct Entered {
    former: Option<Arc<Node>>,
    is_left: bool,
}

impl Entered {
    fn enter(node: Option<Arc<Node>>) -> Self {
        Self {
            former: PRESENT.replace(node),
            is_left: false,
        }
    }

    fn leave(mut self) -> Option<Arc<Node>> {
        self.is_left = true;
        PRESENT.replace(self.former.take())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if !self.is_left {
            PRESENT.replace(self.former.take());
        }
    }
}

/// The context of the present span, for what is stored to go on later; `None` if nothing is recorded.
#[inline]
pub fn present() -> Option<TraceContext> {
    match is_on() {
        true => with_present(|node| node.live.as_ref().map(|_| node.context)).flatten(),
        false => None,
    }
}

/// Adds an attribute to the present span, if it is recorded.
#[inline]
pub fn note(attribute: impl FnOnce() -> Attribute) {
    if is_on() {
        with_present(|node| {
            if let Some(live) = &node.live {
                live.note(attribute());
            }
        });
    }
}

/// Runs a future in another task, with the present span of this one as its present span.
#[inline]
pub fn carried<F: Future>(future: F) -> Traced<F> {
    let node = match is_on() {
        true => PRESENT.with_borrow(Clone::clone),
        false => None,
    };
    let mut carried = Traced::new(node, future, |_| SpanEnd::default());
    carried.is_owner = false;
    carried
}

pub(crate) fn with_present<T>(read: impl FnOnce(&Arc<Node>) -> T) -> Option<T> {
    PRESENT.with_borrow(|present| present.as_ref().map(read))
}

pub(crate) fn below_present(name: &'static str, kind: SpanKind) -> TraceSpan {
    let below = with_present(|node| match &node.live {
        Some(live) => live.tracer().below(node, name, kind),
        None => TraceSpan(Some(node.clone())),
    });
    below.unwrap_or_default()
}

pub(crate) fn beside_present(flow: TraceContext, name: &'static str) -> TraceSpan {
    let present = with_present(Clone::clone);
    match present {
        // What nobody asked for in a request is not part of a flow.
        None => TraceSpan(None),
        Some(node) if node.context.trace == flow.trace => below_present(name, SpanKind::Internal),
        Some(node) if node.begins_here => match tracer() {
            Some(tracer) => tracer
                .resumed(flow, name, SpanKind::Internal)
                .linked(node.context),
            None => TraceSpan(None),
        },
        Some(_) => below_present(name, SpanKind::Internal).linked(flow),
    }
}
