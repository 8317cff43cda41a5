package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestServices checks what rests on a service that only a variable names, and on the files that it serves.
func TestServices(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{
			"mkdir repo", "cp a.whl repo/", "python3 -m http.server 18541 --directory repo > /dev/null &", "until curl -s -o /dev/null http://127.0.0.1:18541/; do sleep 1; done",
			"export PIP_INDEX_URL=http://127.0.0.1:18541/", "pip install --target site a", "kill %1",
		}, "0 1 2 3 4 5 6"},
		{[]string{ // the first content was fetched before it was replaced
			"cp 1.json feed/x.json", "python3 -m http.server 18542 -d feed &", "curl -s http://127.0.0.1:18542/x.json >> all.json",
			"cp 2.json feed/x.json", "curl -s http://127.0.0.1:18542/x.json >> all.json", "kill %1",
		}, "0 1 2 2 3 5"},
		{[]string{ // what is sent to a service of unknown writes may make it write
			"./hooks hooks.json & server=$!", "until curl -s -o /dev/null http://127.0.0.1:18543/; do sleep 1; done", "curl -s http://127.0.0.1:18543/status",
			"curl -s -d 1.0 http://127.0.0.1:18543/deploy", "kill $server",
		}, "0 1 3 4"},
		{[]string{ // the first had ended, as the second can listen there
			"export PORT=18544", "nohup node server.js > server.log 2>&1 &", "export DIR=up", "nohup node server.js > server.log 2>&1 & echo $! > pid",
			"until curl -s -o /dev/null 127.0.0.1:18544; do sleep 1; done", "curl -s -d x 127.0.0.1:18544/echo > out", "kill $(cat pid)",
		}, "0 2 3 4 5 6"},
	} {
		if got := keptOf(t, c.lines); got != c.want {
			t.Errorf("%q: kept %s, want %s", c.lines, got, c.want)
		}
	}
}

// TestTalkingToServices checks what is sent to a service by other means than a client that is known, what a signal
// tells it, and that waiting for it has not failed if it was killed.
func TestTalkingToServices(t *testing.T) {
	for _, c := range []struct {
		lines []string
		codes map[int]int32
		want  string
	}{
		{[]string{
			"./serve 18551 state &", "sleep 1", "ask() { exec 3<>/dev/tcp/127.0.0.1/18551; echo \"$1\" >&3; cat <&3; }", "ask up", "kill %1",
		}, nil, "0 1 2 3 4"},
		{[]string{
			"./serve 18552 spool &", `put() { python3 -c 'import socket; s = socket.create_connection(("127.0.0.1", 18552)); s.sendall(b"x")'; }`, "put", "kill $!",
		}, nil, "0 1 2 3"},
		{[]string{"./serve 18553 wal & p=$!", "curl -X PUT -d a 127.0.0.1:18553/x", "kill -USR1 $p", "curl -X PUT -d b 127.0.0.1:18553/y", "kill $p"}, nil, "0 1 2 3 4"},
		{[]string{
			"./serve 18554 wal & p=$!", "curl -X PUT -d a 127.0.0.1:18554/x", "kill -9 $p", "wait $p 2> /dev/null", "./serve 18554 wal & q=$!", "curl -X PUT -d b 127.0.0.1:18554/y", "kill $q",
		}, map[int]int32{3: 137}, "0 1 2 3 4 5 6"},
		{[]string{"printf '#!/bin/sh\ngrep -q x f\n' > /tmp/check-$USER && chmod +x /tmp/check-$USER", "/tmp/check-$LOGNAME && echo ok > ok"}, nil, "0 1"},
	} {
		n := narrative(c.lines...)
		for i := range n.Commands {
			if code, ok := c.codes[i]; ok {
				n.Commands[i].ExitCode = &code
			}
		}
		var got []string
		for _, s := range made(t, n, Request{}).Steps {
			got = append(got, fmt.Sprint(slices.Index(c.lines, s.Original)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: kept %v, want %s", c.lines, got, c.want)
		}
	}
}

// TestServicesOnTheirPorts lets a plan send what it likes to a service of this machine that a variable names.
func TestServicesOnTheirPorts(t *testing.T) {
	lines := []string{"port=18545 url=http://127.0.0.1:$port", "python3 serve.py $port > log 2>&1 &", "curl -s -d name=Ada $url/", "export url=$OTHER", "curl -s -d name=Eve $url/ > answer", "kill %1"}
	var asked []string
	for _, st := range made(t, narrative(lines...), Request{}).Steps {
		if len(st.Danger) > 0 {
			asked = append(asked, st.Original)
		}
	}
	for _, between := range []string{"if then", ". ./settings", "eval \"$(./settings)\"", "read url < f", "url+=.example", "test -f x && url=$(cat x)"} {
		p := made(t, narrative("url=http://127.0.0.1", between, "curl -s -d x $url/"), Request{All: true})
		if len(p.Steps[2].Danger) == 0 {
			t.Errorf("%s: the address is taken for known", between)
		}
	}
	p := made(t, narrative("url=http://127.0.0.1", "away() { url=http://api.example; }", "away", "curl -s -d x $url/"), Request{All: true})
	if len(p.Steps[3].Danger) == 0 {
		t.Error("a function set the address")
	}
	if want := []string{"curl -s -d name=Eve $url/ > answer"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
}

// TestRemovalsByVariables asks about removing what a variable of an earlier step names: it may not be set in the end.
func TestRemovalsByVariables(t *testing.T) {
	lines := []string{
		"out=build", "mkdir $out; echo 1 > $out/a", `rm -rf "$out/a"`, "L=~/.local", `rm -rf "$L/share"`, "two='build /etc'", "rm -rf $two", "out=..", "rm -rf $out", "echo 2 > b",
		"tmp=$(mktemp -d) && echo 1 > $tmp/a", `rm -rf "$tmp"`,
	}
	var asked, whole []string
	for _, st := range made(t, narrative(lines...), Request{All: true}).Steps {
		if len(st.Danger) > 0 {
			asked = append(asked, st.Original)
		}
		if len(st.Danger) > 0 && st.Danger[0].Whole {
			whole = append(whole, st.Original)
		}
	}
	if want := []string{lines[2], lines[4], lines[6], lines[8], lines[11]}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	if want := []string{lines[2], lines[11]}; !slices.Equal(whole, want) {
		t.Errorf("%q are only dangerous without a step, want %q", whole, want)
	}
}

// TestPartsThatAreRemoved checks that what an installation wrote outside a directory stays when the directory
// that it was built in is removed.
func TestPartsThatAreRemoved(t *testing.T) {
	lines := []string{"export LFS=/home/ann/lfs", "tar -xf x.tar", "make -C x DESTDIR=$LFS install", "rm -rf x"}
	if got, want := keptOf(t, lines), "0 1 2 3"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

// TestServicesThatWereAwaited checks that waiting for what runs in the background ends it, so that nothing is said
// to be left running.
func TestServicesThatWereAwaited(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  int
	}{
		{[]string{"./serve & pid=$!", "./ask > a", "./ask stop; wait $pid"}, 2},
		{[]string{"./one > 1 &", "./two > 2 &", "wait"}, 2},
		{[]string{"./one > 1 & pid=$!", "./two > 2 &", "wait $pid"}, -1}, // which of them is not known
	} {
		p := made(t, narrative(c.lines...), Request{})
		if by := p.Steps[0].EndedBy; c.want < 0 && by != nil || c.want >= 0 && (by == nil || *by != c.want) {
			t.Errorf("%q: ended by %v, want %d", c.lines, by, c.want)
		}
	}
}

// TestFunctionsOfServices lets a function send what it likes to an address that is never set again.
func TestFunctionsOfServices(t *testing.T) {
	for _, c := range []struct {
		last  string
		asked int
	}{{"put b", 0}, {"u=https://api.example", 1}, {"unset u", 1}, {". ./settings", 1}} {
		asked := 0
		for _, st := range made(t, narrative("u=http://127.0.0.1:18546", `put() { curl -d "$1" "$u/x"; }`, "put a", c.last), Request{All: true}).Steps {
			asked += len(st.Danger)
		}
		if asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", c.last, asked, c.asked)
		}
	}
}

// TestRequestsThatWereDeclined leaves out requests during which nothing changed, where a service writes at once what it
// takes.
func TestRequestsThatWereDeclined(t *testing.T) {
	serve, good, bad, end := "./serve db.json & pid=$! | .", "curl -s -d a=1 127.0.0.1:18547/x | db.json=1>2", "curl -s -d b 127.0.0.1:18547/x | nothing", "kill $pid | nothing"
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{serve, good, bad, end}, "0 1 3"},
		{[]string{serve, bad, end}, "0 1 2"},                               // when it writes is not known
		{[]string{serve, good, bad, "kill $pid | db.json=2>3"}, "0 1 2 3"}, // it writes in the end
		{[]string{serve, good, "t=$(curl -s -d b 127.0.0.1:18547/x) | nothing", "echo $t > f | f=1", end}, "0 1 2 3 4"},
	} {
		if got := kept(made(t, watched(c.lines...), Request{})); got != c.want {
			t.Errorf("%q: kept %s, want %s", c.lines, got, c.want)
		}
	}
}

// TestUnknownServices has a script of which nothing is known but which files it was seen to leave: what is asked of a
// port rests on what it was told to start.
func TestUnknownServices(t *testing.T) {
	lines := []string{
		"./ctl start mock | +run/mock.pid=1 +run/mock.log=2", "curl -s http://127.0.0.1:18561/a > a.json | +a.json=3", "./ctl stop mock | -run/mock.pid -run/mock.log",
		"./ctl start web | +run/web.pid=4", "./ctl stop web | -run/web.pid",
	}
	var kept []string
	for _, s := range made(t, watched(lines...), Request{}).Steps {
		kept = append(kept, s.Original)
	}
	if want := []string{"./ctl start mock", "curl -s http://127.0.0.1:18561/a > a.json", "./ctl stop mock"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
}
