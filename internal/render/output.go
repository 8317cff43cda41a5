package render

import (
	"io"
	"os"
)

// Output is the standard output of a process. It remembers the first write that failed, so that an answer which
// did not arrive is no success.
type Output struct {
	*os.File
	Failed error
}

// Write writes to the file.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if err != nil && o.Failed == nil {
		o.Failed = err
	}
	return n, err
}

// WriteString writes a text as Write does.
func (o *Output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// ReadFrom copies to the file by Write, which the file's own way would go around.
func (o *Output) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{o}, r)
}

// Stdout returns what a child's standard output is set to: the file itself, which it may find to be a terminal.
func (t *Terminal) Stdout() io.Writer {
	if o, ok := t.Out.(*Output); ok {
		return o.File
	}
	return t.Out
}
