package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines reads a stream of messages, a line each, and passes on those that are messages. The SDK ends
// a connection at any other line; here the client gets an error, and the next line is read.
type lines struct {
	io.Closer
	in   *bufio.Reader
	out  *oneWriter
	rest []byte
}

// oneWriter writes whole lines, of the SDK and of lines, but no answers to cancelled requests.
type oneWriter struct {
	io.WriteCloser
	pending pending
	mu      sync.Mutex
}

func (w *oneWriter) Write(b []byte) (int, error) {
	if w.pending.unwanted(b) {
		return len(b), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(b)
}

// onlyMessages returns the streams to serve in place of a client's.
func onlyMessages(in io.ReadCloser, out io.WriteCloser) (io.ReadCloser, io.WriteCloser) {
	w := &oneWriter{WriteCloser: out}
	return &lines{Closer: in, in: bufio.NewReaderSize(in, 64<<10), out: w}, w
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, long, err := l.line()
		line = bytes.TrimSpace(line)
		why := ""
		switch {
		case long:
			why = fmt.Sprintf("a message of more than %d bytes", maxLine)
		case len(line) > 0:
			l.rest, why = messages(line, l.out.pending.received)
		}
		if why != "" {
			if err := l.refuse(why); err != nil {
				return 0, err
			}
		}
		if err != nil && len(l.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line reads a line. One of more than maxLine bytes is skipped.
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		piece, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// messages returns the messages of a line, each on a line, or why it has none, and shows each to note. A
// batch, which only the version 2025-03-26 has, becomes single messages.
func messages(line []byte, note func(jsonrpc.Message)) (all []byte, why string) {
	if line[0] != '[' {
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, "not a message of JSON-RPC 2.0"
		}
		note(m)
		return append(line, '\n'), ""
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return nil, "not a message of JSON-RPC 2.0"
	}
	for _, m := range batch {
		decoded, err := jsonrpc.DecodeMessage(m)
		if err != nil {
			return nil, "not a batch of messages of JSON-RPC 2.0"
		}
		note(decoded)
		var one bytes.Buffer
		if err := json.Compact(&one, m); err != nil {
			return nil, "not a batch of messages of JSON-RPC 2.0"
		}
		all = append(append(all, one.Bytes()...), '\n')
	}
	return all, ""
}

// refuse tells the client that a line was not read.
func (l *lines) refuse(why string) error {
	_, err := fmt.Fprintf(l.out, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"%s: it was skipped"}}`+"\n", why)
	return err
}
