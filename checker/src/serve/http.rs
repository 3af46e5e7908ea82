//! What is answered to which request, and the limits of connections.
//!
//! A connection has one request. Each of its parts has a time limit, and so has the whole of it, so that slow or silent clients do not keep
//! one of the few connections for long. Nothing of a request names a file, and nothing is written.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StandardListener};
use std::sync::Arc;
use std::time::Duration;

use answer::page::{self, SCRIPT, SERVED};
use answer::{AnswerSettings, LARGEST};
use engine::interrupt;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use picture::page::POLICY;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// Connections at one time; others wait until one ends.
const CONNECTIONS: usize = 256;
/// The time for the head of a request.
const HEAD: Duration = Duration::from_secs(5);
/// The time for its body.
const BODY: Duration = Duration::from_secs(10);
/// How long a request waits for one of the jobs.
const WAIT: Duration = Duration::from_secs(1);
/// What an answer may take beside its searches, and the client to read it.
const REST: Duration = Duration::from_secs(15);
/// How long more is read of a body that was refused, so that the client reads the answer before the connection ends.
const DRAIN: Duration = Duration::from_secs(1);
/// The bytes of the head of a request.
const HEAD_BYTES: usize = 16 << 10;
/// How often it is looked whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(50);

type Reply = Response<Full<Bytes>>;

struct Server {
    settings: AnswerSettings,
    /// What `Host` may be.
    hosts: Vec<String>,
    /// The tests that may be judged at one time.
    jobs: Arc<Semaphore>,
    page: Bytes,
}

/// Answers requests until the run is interrupted. `first`: the test that the page begins with.
pub(super) fn serve(
    listener: StandardListener,
    settings: AnswerSettings,
    jobs: usize,
    first: Option<&str>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let server = Arc::new(Server {
        settings,
        hosts: hosts(address),
        jobs: Arc::new(Semaphore::new(jobs)),
        page: page::served(first).into(),
    });
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(jobs)
        .build()?;
    let done = runtime.block_on(accept(listener, &server));
    // Searches end when the run is interrupted.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// The names of this server in the address of a page.
fn hosts(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    let mut hosts = vec![address.to_string(), format!("localhost:{port}")];
    if port == 80 {
        hosts.extend([address.ip().to_string(), "localhost".to_owned()]);
    }
    hosts
}

async fn accept(listener: StandardListener, server: &Arc<Server>) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    while !interrupt::raised() {
        let Ok(Ok(permit)) = timeout(LOOK, connections.clone().acquire_owned()).await else {
            continue;
        };
        match timeout(LOOK, listener.accept()).await {
            Err(_) => {}
            // A client that has gone, or too many open files.
            Ok(Err(_)) => sleep(LOOK).await,
            Ok(Ok((stream, _))) => {
                let server = server.clone();
                tokio::spawn(async move {
                    let whole = HEAD + BODY + WAIT + server.settings.limits().timeout + REST;
                    // A connection that fails or takes too long ends, and nobody else need know.
                    drop(timeout(whole, connection(&server, stream)).await);
                    drop(permit);
                });
            }
        }
    }
    Ok(())
}

/// One connection, with one request.
async fn connection(server: &Arc<Server>, stream: TcpStream) {
    let service = service_fn(|request| async move {
        let head = request.method() == Method::HEAD;
        let mut reply = server.reply(request).await;
        if head {
            *reply.body_mut() = Full::default();
        }
        Ok::<_, Infallible>(reply)
    });
    let answered = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .without_shutdown();
    if let Ok(parts) = answered.await {
        drain(parts.io.into_inner()).await;
    }
}

/// Ends a connection. One that is closed with bytes unread is reset, and the client may lose the answer.
async fn drain(mut stream: TcpStream) {
    if stream.shutdown().await.is_ok() {
        let rest = async {
            let mut buffer = vec![0; 16 << 10];
            while stream.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
        };
        drop(timeout(DRAIN, rest).await);
    }
}

impl Server {
    async fn reply(self: &Arc<Self>, request: Request<Incoming>) -> Reply {
        if let Err(why) = self.permitted(&request) {
            return refused(StatusCode::FORBIDDEN, why);
        }
        let allowed: &[Method] = match request.uri().path() {
            "/" | "/page.js" => &[Method::GET, Method::HEAD],
            "/answer" => &[Method::POST],
            _ => return refused(StatusCode::NOT_FOUND, "there is no such page"),
        };
        if !allowed.contains(request.method()) {
            let mut reply = refused(StatusCode::METHOD_NOT_ALLOWED, "this page has no such method");
            let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
            if let Ok(names) = HeaderValue::from_str(&names.join(", ")) {
                reply.headers_mut().insert(header::ALLOW, names);
            }
            return reply;
        }
        match request.uri().path() {
            "/answer" => self.answered(request).await,
            "/page.js" => {
                ok("text/javascript; charset=utf-8", Bytes::from_static(SCRIPT.as_bytes()))
            }
            _ => ok("text/html; charset=utf-8", self.page.clone()),
        }
    }

    /// Whether a request is answered: pages of other sites can send some to this computer, by its address or by a name of their own that
    /// leads to it.
    fn permitted(&self, request: &Request<Incoming>) -> Result<(), &'static str> {
        const HOST: &str = "the host of the request is not this server";
        const SITE: &str = "the request comes from the page of another site";
        let is_ours = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        let headers = request.headers();
        let host = only(headers, "host", HOST)?;
        let named = request.uri().authority().map(Authority::as_str);
        if !host.is_some_and(is_ours) || !named.is_none_or(is_ours) {
            return Err(HOST);
        }
        let origin = only(headers, "origin", SITE)?;
        let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(is_ours);
        if !origin.is_none_or(is_own) {
            return Err(SITE);
        }
        // A link on another site may lead here.
        let follows = matches!(*request.method(), Method::GET | Method::HEAD);
        let site = only(headers, "sec-fetch-site", SITE)?;
        if follows || site.is_none_or(|site| matches!(site, "same-origin" | "none")) {
            Ok(())
        } else {
            Err(SITE)
        }
    }

    async fn answered(self: &Arc<Self>, request: Request<Incoming>) -> Reply {
        let too_large =
            || refused(StatusCode::PAYLOAD_TOO_LARGE, "the test is larger than 128 KiB");
        if request.body().size_hint().lower() > LARGEST as u64 {
            return too_large();
        }
        let body = Limited::new(request.into_body(), LARGEST).collect();
        let text = match timeout(BODY, body).await {
            Err(_) => {
                return refused(StatusCode::REQUEST_TIMEOUT, "the test did not arrive in time");
            }
            Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(),
            Ok(Err(_)) => return refused(StatusCode::BAD_REQUEST, "the test did not arrive whole"),
            Ok(Ok(body)) => body.to_bytes(),
        };
        let Ok(Ok(permit)) = timeout(WAIT, self.jobs.clone().acquire_owned()).await else {
            let why = "other tests are being judged; try again";
            let mut reply = refused(StatusCode::SERVICE_UNAVAILABLE, why);
            reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return reply;
        };
        let server = self.clone();
        let judging = spawn_blocking(move || {
            let answer = server.settings.answer(&text);
            // A search goes on when its client has gone.
            drop(permit);
            answer
        });
        match judging.await {
            Ok(answer) => ok(JSON, answer.into()),
            Err(_) => refused(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the test made the checker fail, which is a bug",
            ),
        }
    }
}

/// The value of a header, if there is one; the error `otherwise` if there are several, or it is not text.
fn only<'h>(
    headers: &'h HeaderMap,
    name: &str,
    otherwise: &'static str,
) -> Result<Option<&'h str>, &'static str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| otherwise),
        (Some(_), Some(_)) => Err(otherwise),
    }
}

const JSON: &str = "application/json";

fn ok(kind: &'static str, body: Bytes) -> Reply {
    reply(StatusCode::OK, kind, body)
}

/// An object with the reason.
fn refused(status: StatusCode, why: &str) -> Reply {
    reply(status, JSON, json!({ "error": why }).to_string().into())
}

fn reply(status: StatusCode, kind: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let policy = format!("{POLICY}{SERVED}; frame-ancestors 'none'");
    let headers = reply.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.extend(
        HeaderValue::from_str(&policy).ok().map(|value| (header::CONTENT_SECURITY_POLICY, value)),
    );
    reply
}
