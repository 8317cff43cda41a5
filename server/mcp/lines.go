package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines reads a stream of messages, a line each, and passes on those that are messages. The SDK ends
// a connection at any other line; here the client gets an error, and the next line is read. The SDK also
// drops what it has not answered when its input ends; here the input ends for it when all is answered.
type lines struct {
	io.Closer
	in   *bufio.Reader
	out  *oneWriter
	rest []byte
}

// oneWriter writes whole lines, of the SDK and of lines, but no answers to cancelled requests. It ends
// the connection when a write fails. A write that the client does not take ends with the connection.
type oneWriter struct {
	io.WriteCloser
	pending *pending
	done    <-chan struct{} // closed when the connection ends
	end     func()
	turn    chan struct{} // holds a value while a line is written
}

func (w *oneWriter) Write(b []byte) (int, error) {
	id, r := w.pending.answers(b)
	defer w.pending.answered(id, r)
	select {
	case w.turn <- struct{}{}:
	case <-w.done:
		return 0, io.ErrClosedPipe
	}
	if w.pending.unwanted(r) {
		<-w.turn
		return len(b), nil
	}
	written := make(chan error, 1)
	go func() {
		_, err := w.WriteCloser.Write(b)
		<-w.turn
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			w.end()
			return 0, err
		}
		return len(b), nil
	case <-w.done:
		return 0, io.ErrClosedPipe
	}
}

// onlyMessages returns the streams to serve in place of a client's, for a connection that lasts until ctx
// is done. end ends it.
func onlyMessages(ctx context.Context, end func(), in io.ReadCloser, out io.WriteCloser) (io.ReadCloser, io.WriteCloser) {
	w := &oneWriter{WriteCloser: out, pending: newPending(), done: ctx.Done(), end: end, turn: make(chan struct{}, 1)}
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
			l.out.pending.wait(l.out.done)
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
