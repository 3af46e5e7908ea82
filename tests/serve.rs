//! The server of `causeway serve`: what it answers, and that its limits hold against hostile clients.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::suite;

/// A running server, which is ended when it is dropped.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(options: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_causeway"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(options)
            .current_dir(suite::root())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it prints its address");
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.and_then(|text| text.parse().ok());
        Server { child, address: address.expect("the line is the address") }
    }

    /// Sends bytes and returns the whole answer.
    fn send(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // The server may answer, and not read on, before everything was sent.
        let _ = stream.write_all(bytes);
        Reply::read(stream)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server accepts");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("it can be set");
        stream
    }

    /// A request with the right `Host`, and these headers.
    fn request(&self, line: &str, headers: &str, body: &[u8]) -> Reply {
        self.send(&whole(line, &format!("Host: {}\r\n{headers}", self.address), body))
    }

    fn get(&self, path: &str) -> Reply {
        self.request(&format!("GET {path} HTTP/1.1"), "", b"")
    }

    fn ask(&self, test: &str) -> Reply {
        self.request("POST /answer HTTP/1.1", "", test.as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn whole(line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("{line}\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn read(mut stream: TcpStream) -> Reply {
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).expect("an answer is text");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| {
            panic!("no whole answer: {text:?}, {ended:?}");
        });
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.expect("an answer has a status");
        Reply { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn json(&self) -> Value {
        assert!(self.head.contains("content-type: application/json"), "{}", self.head);
        serde_json::from_str(&self.body).expect("the body is an object")
    }

    /// Why a request was refused.
    fn error(&self) -> String {
        self.json()["error"].as_str().expect("it has a reason").to_owned()
    }
}

fn test(name: &str) -> String {
    std::fs::read_to_string(suite::root().join(name)).expect("the test is there")
}

/// Twelve threads, of which each pair has an order to choose.
fn exploding() -> String {
    let threads = 12;
    let mut text = String::from("PTX explodes\n{ x=0; y=0; }\n");
    let row = |cell: &dyn Fn(usize) -> String| {
        (0..threads).map(cell).collect::<Vec<_>>().join(" | ") + " ;\n"
    };
    text += &row(&|thread| format!("P{thread}@cta {thread},gpu 0"));
    text += &row(&|thread| format!("st.relaxed.gpu.u32 [x], {thread}"));
    for register in 0..4 {
        text += &row(&|_| format!("ld.relaxed.gpu.u32 r{register}, [x]"));
    }
    let all: Vec<_> = (0..threads).map(|thread| format!("{thread}:r3=77")).collect();
    let _ = writeln!(text, "exists ({})", all.join(" \\/ "));
    text
}

/// The page begins with the test that the command line names, escaped.
#[test]
fn the_page_begins_with_functions_of_a_module() {
    let words = "producer(data, flag) || consumer(data, flag, out)";
    let server = Server::start(&["tests/words/message.ptx", words, "--never=[out]=0 && [out]<2"]);
    let page = server.get("/");
    let (_, text) = page.body.split_once("aria-describedby=\"keys\">\n").expect("it has a text");
    let (text, _) = text.split_once("</textarea>").expect("it ends");
    assert!(text.starts_with("PTX producer+consumer\n"), "{text}");
    assert!(text.trim_end().ends_with("~exists ([out]=0 &amp;&amp; [out]&lt;2)"), "{text}");
    assert_eq!(server.ask(&text.replace("&amp;", "&").replace("&lt;", "<")).status, 200);
}

#[test]
fn a_test_has_verdict_outcomes_picture_and_explanation() {
    let server = Server::start(&[]);
    let reply = server.ask(&test("tests/cli/holds.litmus"));
    assert_eq!(reply.status, 200);
    let answer = reply.json();
    assert_eq!(answer["expected"], true);
    assert!(answer["summary"].as_str().is_some_and(|words| words.starts_with("Forbidden: ")));
    assert_eq!(answer["check"]["verdict"], "holds");
    assert!(answer["check"]["outcomes"].as_array().is_some_and(|all| all.len() == 3));
    assert!(answer["explain"]["graphs"].as_array().is_some_and(|all| !all.is_empty()));
    let html = answer["html"].as_str().expect("it has markup");
    for wanted in ["<h2>Outcomes</h2>", "<svg", "Forbidden by Causality"] {
        assert!(html.contains(wanted), "{wanted}");
    }
    // The same as the commands print, except for the time.
    let check = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(["check", "--format", "json", "--engine=enumerate", "tests/cli/holds.litmus"])
        .current_dir(suite::root())
        .output()
        .expect("the program starts");
    let mut printed: Value = serde_json::from_slice(&check.stdout).expect("it is an object");
    printed.as_object_mut().expect("it is an object").remove("format");
    let mut found = answer["check"].clone();
    for object in [&mut printed, &mut found] {
        object["seconds"] = Value::Null;
        object["file"] = Value::Null;
    }
    assert_eq!(found, printed);
}

#[test]
fn errors_have_line_column_and_help() {
    let server = Server::start(&[]);
    let reply =
        server.ask("PTX MP\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st.weka.u32 [x], 1 ;\nexists (x=1)\n");
    assert_eq!(reply.status, 200);
    let answer = reply.json();
    let error = &answer["errors"][0];
    assert_eq!((&error["line"], &error["column"]), (&Value::from(4), &Value::from(5)), "{error}");
    assert!(error["help"].is_string() && answer["check"].is_null(), "{error}");
    assert!(answer["html"].as_str().is_some_and(|html| html.contains("test.litmus:4:5")));
    // Nothing of a test is markup.
    let hostile = server.ask("PTX <script>alert(1)</script>\n{ <img src=x onerror=alert(1)> }\n");
    assert!(!hostile.body.contains("<script") && !hostile.body.contains("<img"));
    assert_eq!(server.ask("").json()["summary"], "The test could not be read.");
    assert_eq!(server.request("POST /answer HTTP/1.1", "", b"PTX \xff\xfe").status, 200);
}

#[test]
fn a_test_that_explodes_is_undecided_in_time() {
    let server = Server::start(&["--timeout", "1", "--memory", "64MiB"]);
    let start = Instant::now();
    let answer = server.ask(&exploding()).json();
    // One search would otherwise take hours.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(answer["check"]["verdict"], "undecided", "{}", answer["summary"]);
    assert_eq!(answer["expected"], false);
    let reason = answer["check"]["reason"].as_str().expect("it has a reason");
    assert!(reason.contains("limit"), "{reason}");
}

#[test]
fn large_bodies_are_refused_before_they_are_read() {
    let server = Server::start(&[]);
    let host = format!("Host: {}\r\n", server.address);
    // Nothing of the body is sent, so the answer cannot wait for it.
    let declared = format!("POST /answer HTTP/1.1\r\n{host}Content-Length: 100000000\r\n\r\n");
    let reply = server.send(declared.as_bytes());
    assert_eq!((reply.status, reply.error().as_str()), (413, "the test is larger than 128 KiB"));
    let chunked = format!("POST /answer HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n");
    let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 1 << 16], b"\r\n"].concat();
    let reply = server.send(&[chunked.as_bytes(), &chunk.repeat(100)].concat());
    assert_eq!(reply.status, 413);
    let head = format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "x".repeat(100_000));
    assert_eq!(server.send(head.as_bytes()).status, 431);
}

#[test]
fn other_paths_and_methods_are_refused() {
    let server = Server::start(&[]);
    for path in [
        "/x",
        "/answer/",
        "//",
        "/../Cargo.toml",
        "/page.js/..",
        "/Cargo.toml",
        "/%2e%2e/Cargo.toml",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    for (method, path, allowed) in [
        ("POST", "/", "get, head"),
        ("PUT", "/answer", "post"),
        ("GET", "/answer", "post"),
        ("DELETE", "/page.js", "get, head"),
        ("OPTIONS", "/answer", "post"),
    ] {
        let reply = server.request(&format!("{method} {path} HTTP/1.1"), "", b"");
        assert_eq!(reply.status, 405, "{method} {path}");
        assert!(reply.head.contains(&format!("allow: {allowed}")), "{}", reply.head);
    }
    let head = server.request("HEAD / HTTP/1.1", "", b"");
    assert!(head.status == 200 && head.body.is_empty());
    for wrong in ["GET / HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET\r\n\r\n"] {
        assert_eq!(server.send(wrong.as_bytes()).status, 400, "{wrong:?}");
    }
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn requests_of_other_sites_are_refused() {
    let server = Server::start(&[]);
    let mp = test("tests/cli/holds.litmus");
    let port = server.address.port();
    let ask = |headers: &str| server.send(&whole("POST /answer HTTP/1.1", headers, mp.as_bytes()));
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    let named = format!("Host: localhost:{port}\r\n");
    for right in [
        own.clone(),
        named.clone(),
        format!("{own}Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"),
        format!("{named}Origin: http://localhost:{port}\r\n"),
    ] {
        assert_eq!(ask(&right).status, 200, "{right}");
    }
    for wrong in [
        String::new(),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1:{}\r\n", port ^ 1),
        format!("{own}Host: evil.example\r\n"),
        format!("{own}Origin: http://evil.example\r\n"),
        format!("{own}Origin: http://evil.example:{port}\r\n"),
        format!("{own}Origin: https://127.0.0.1:{port}\r\n"),
        format!("{own}Origin: http://127.0.0.1:{port}.evil.example\r\n"),
        format!("{own}Origin: null\r\n"),
        format!("{own}Origin: http://127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n"),
        format!("{own}Sec-Fetch-Site: cross-site\r\n"),
        format!("{own}Sec-Fetch-Site: same-site\r\n"),
    ] {
        let reply = ask(&wrong);
        assert_eq!(reply.status, 403, "{wrong}");
        assert!(!reply.error().is_empty());
    }
    // A name that leads to this computer does not get the page either; a link of another site does.
    let rebound = format!("Host: evil.example:{port}\r\n");
    assert_eq!(server.send(&whole("GET / HTTP/1.1", &rebound, b"")).status, 403);
    let absolute = "GET http://evil.example/ HTTP/1.1";
    assert_eq!(server.send(&whole(absolute, &own, b"")).status, 403);
    let link = format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n");
    assert_eq!(server.send(&whole("GET / HTTP/1.1", &link, b"")).status, 200);
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let server = Server::start(&[]);
    let page = server.get("/");
    assert!(page.head.contains("content-security-policy: default-src 'none';"), "{}", page.head);
    assert!(page.head.contains("frame-ancestors 'none'"), "{}", page.head);
    assert!(!page.body.contains("https:") && !page.body.contains("http:"), "a foreign address");
    assert_eq!(page.body.matches("<script").count(), 2);
    assert!(page.body.contains("<script src=\"page.js\">"));
    let script = server.get("/page.js");
    assert!(script.status == 200 && script.head.contains("content-type: text/javascript"));
    // Every test of the folders can be chosen.
    for folder in ["document", "gallery"] {
        let folder = suite::folder().join(folder);
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let name = entry.expect("it can be read").file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(".litmus") {
                assert!(page.body.contains(&format!(">{name}</option>")), "{name}");
            }
        }
    }
    assert!(suite::folder().join("document").is_dir());
}

#[test]
fn parallel_requests_have_the_same_answers_or_are_asked_to_come_back() {
    let server = Server::start(&["--jobs", "2"]);
    let mp = test("tests/cli/holds.litmus");
    let asked = || {
        std::thread::scope(|scope| {
            let asked: Vec<_> = (0..40).map(|_| scope.spawn(|| server.ask(&mp))).collect();
            asked.into_iter().map(|one| one.join().expect("it ends")).collect::<Vec<_>>()
        })
    };
    let mut good = 0;
    let first = server.ask(&mp).json();
    for reply in asked() {
        if reply.status == 503 {
            assert!(reply.head.contains("retry-after: 1"));
            continue;
        }
        assert_eq!(reply.status, 200);
        let answer = reply.json();
        assert_eq!((&answer["html"], &answer["explain"]), (&first["html"], &first["explain"]));
        good += 1;
    }
    assert!(good > 0);
}

#[test]
fn more_than_the_jobs_are_asked_to_come_back() {
    let server = Server::start(&["--jobs", "1", "--timeout", "5"]);
    let long = exploding();
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| server.ask(&long));
        let mut status = 200;
        while status == 200 && !busy.is_finished() {
            status = server.ask("").status;
        }
        assert_eq!(status, 503);
        // The page is there all the time.
        assert_eq!(server.get("/").status, 200);
        assert_eq!(busy.join().expect("it ends").status, 200);
    });
}

#[test]
fn silent_clients_do_not_keep_others_out() {
    let server = Server::start(&[]);
    // More than there are connections at one time.
    let silent: Vec<TcpStream> = (0..300)
        .map(|index| {
            let mut stream = server.connect();
            let start = if index % 2 == 0 { "" } else { "GET / HTTP/1.1\r\nHo" };
            stream.write_all(start.as_bytes()).expect("it is sent");
            stream
        })
        .collect();
    assert_eq!(server.get("/").status, 200);
    drop(silent);
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_it() {
    let mut server = Server::start(&["--timeout", "600"]);
    let mut stream = server.connect();
    let headers = format!("Host: {}\r\n", server.address);
    let request = whole("POST /answer HTTP/1.1", &headers, exploding().as_bytes());
    stream.write_all(&request).expect("it is sent");
    assert_eq!(server.get("/").status, 200);
    let id = server.child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().expect("there is kill");
    assert!(sent.success());
    assert_eq!(server.child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn an_address_that_is_not_free_is_an_error() {
    let server = Server::start(&[]);
    let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(["serve", "--listen", &server.address.to_string()])
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: ") && said.contains("--listen 127.0.0.1:0"), "{said}");
}
