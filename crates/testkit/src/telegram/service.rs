//! The way of a call: address, token, fault, method, answer.

use std::io;
use std::sync::MutexGuard;
use std::thread;

use serde_json::{Map, Value, json};

use super::call::Params;
use super::{BotCall, BotRefusal, Fault, Inner, State, TOKEN, multipart};
use crate::http::{Incoming, Outgoing, Service};
use crate::process::DEADLINE;

/// The largest call that is read.
const MAX_BODY: usize = 60 * 1024 * 1024;

impl Service for State {
    fn max_body(&self) -> usize {
        MAX_BODY
    }

    fn answer(&self, request: Incoming, out: &mut Outgoing<'_>) -> io::Result<()> {
        let (method, params) = match addressed(&request).and_then(|method| {
            let params = params(&request)?;
            Ok((method.to_owned(), params))
        }) {
            Ok(call) => call,
            Err(refusal) => {
                let mut inner = self.lock();
                inner.record("", &Map::new());
                inner.refuse_last(&refusal);
                self.changed.notify_all();
                return send(out, &Err(refusal));
            }
        };
        self.serve(&method, params, out)
    }
}

impl State {
    fn serve(&self, method: &str, params: Params, out: &mut Outgoing<'_>) -> io::Result<()> {
        let mut inner = self.lock();
        let number = inner.record(method, &params.fields);
        let chat = inner.seen.calls[number].chat();
        let fault = inner.next_fault(method, chat);
        self.changed.notify_all();
        match fault {
            Some(Fault::Status(code)) => {
                return out.whole(code, &[], b"<html>a proxy's words</html>");
            }
            Some(Fault::Garbage) => return out.whole(200, &[], b"{\"ok\":true,\"resu"),
            Some(Fault::BreakBefore) => {
                out.cut();
                return Ok(());
            }
            Some(Fault::TooMany { seconds }) => {
                inner.refuse(number, planned(429, "Too Many Requests"));
                return send_wait(out, seconds);
            }
            Some(Fault::Refuse(code, description)) => {
                let refusal = planned(code, description);
                inner.refuse(number, refusal.clone());
                return send(out, &Err(refusal));
            }
            Some(Fault::Delay(time)) => {
                drop(inner);
                thread::sleep(time);
                inner = self.lock();
            }
            Some(Fault::Hold) => {
                let before = inner.releases;
                inner = self.hold(inner, before)?;
            }
            Some(Fault::HoldAnswer | Fault::BreakAfter) | None => {}
        }
        // What the call has done is seen before its answer is held, and may be released at once.
        let before = inner.releases;
        let answer = self.run(inner, method, params)?;
        let mut inner = self.lock();
        if let Err(refusal) = &answer {
            inner.refuse(number, refusal.clone());
        }
        self.changed.notify_all();
        match fault {
            Some(Fault::HoldAnswer) => drop(self.hold(inner, before)?),
            Some(Fault::BreakAfter) => {
                out.cut();
                return Ok(());
            }
            _ => drop(inner),
        }
        send(out, &answer)
    }

    fn run<'a>(
        &'a self,
        mut inner: MutexGuard<'a, Inner>,
        method: &str,
        params: Params,
    ) -> io::Result<Result<Value, BotRefusal>> {
        if let Err(refusal) = params.check_names(method) {
            return Ok(Err(refusal));
        }
        if method == "getUpdates" {
            return self.poll(inner, &params);
        }
        Ok(inner.call(method, params))
    }

    /// Waits for the release that follows the first `before`.
    fn hold<'a>(
        &'a self,
        mut inner: MutexGuard<'a, Inner>,
        before: u64,
    ) -> io::Result<MutexGuard<'a, Inner>> {
        while inner.releases == before {
            if inner.away {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            inner = self.wait(inner, DEADLINE);
        }
        Ok(inner)
    }
}

impl Inner {
    fn record(&mut self, method: &str, params: &Map<String, Value>) -> usize {
        let (method, params) = (method.to_owned(), params.clone());
        self.seen.calls.push(BotCall { method, params, refusal: None });
        self.seen.calls.len() - 1
    }

    fn refuse(&mut self, number: usize, refusal: BotRefusal) {
        self.seen.calls[number].refusal = Some(refusal);
    }

    fn refuse_last(&mut self, refusal: &BotRefusal) {
        let last = self.seen.calls.len() - 1;
        self.refuse(last, refusal.clone());
    }
}

fn planned(code: u16, description: &str) -> BotRefusal {
    BotRefusal { planned: true, ..BotRefusal::new(code, description) }
}

/// Returns the method that the path names, if its token is right.
fn addressed(request: &Incoming) -> Result<&str, BotRefusal> {
    let not_found = || BotRefusal::new(404, "Not Found");
    let rest = request.path.strip_prefix("/bot").ok_or_else(not_found)?;
    let (token, method) = rest.split_once('/').ok_or_else(not_found)?;
    if token == TOKEN {
        return Ok(method);
    }
    // What does not even look like a token is not found; what does is not authorized.
    let looks = token
        .split_once(':')
        .is_some_and(|(id, secret)| id.parse::<u64>().is_ok() && secret.len() >= 30);
    Err(if looks { BotRefusal::new(401, "Unauthorized") } else { not_found() })
}

fn params(request: &Incoming) -> Result<Params, BotRefusal> {
    let kind = request.headers.get("content-type").map(String::as_str).unwrap_or_default();
    if kind.starts_with("multipart/form-data") {
        let form = multipart::read(kind, &request.body);
        return form.ok_or_else(|| BotRefusal::bad("can't parse the form"));
    }
    if request.body.is_empty() {
        return Ok(Params { fields: Map::new(), file: None });
    }
    if !kind.starts_with("application/json") {
        return Err(BotRefusal::bad("the body's content type is not application/json"));
    }
    match serde_json::from_slice(&request.body) {
        Ok(Value::Object(fields)) => Ok(Params { fields, file: None }),
        _ => Err(BotRefusal::bad("can't parse JSON object")),
    }
}

fn send(out: &mut Outgoing<'_>, answer: &Result<Value, BotRefusal>) -> io::Result<()> {
    let (status, body) = match answer {
        Ok(result) => (200, json!({"ok": true, "result": result})),
        Err(BotRefusal { code, description, .. }) => {
            (*code, json!({"ok": false, "error_code": code, "description": description}))
        }
    };
    out.whole(status, &[("content-type", "application/json")], body.to_string().as_bytes())
}

fn send_wait(out: &mut Outgoing<'_>, seconds: u64) -> io::Result<()> {
    let body = json!({
        "ok": false,
        "error_code": 429,
        "description": format!("Too Many Requests: retry after {seconds}"),
        "parameters": {"retry_after": seconds},
    });
    out.whole(429, &[("content-type", "application/json")], body.to_string().as_bytes())
}
