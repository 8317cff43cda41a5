// Command pictures draws the screen of a terminal as an SVG picture, for the documentation:
//
//	tmux capture-pane -e -p | go run ./internal/pictures -columns 90 > docs/pictures/search.svg
//
// It reads text with the colour sequences that tmux writes (SGR of ECMA-48) and nothing else that
// moves a cursor. The picture follows the reader's light or dark colour scheme. scripts/pictures.sh
// renews every picture of the documentation.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	columns := flag.Int("columns", 90, "the width of the terminal, in cells")
	title := flag.String("title", "", "what the picture shows, for readers who don't see it")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *columns, *title); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(2)
	}
}

// run draws what is read from in.
func run(in io.Reader, out io.Writer, columns int, title string) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	draw(w, lines(string(text)), columns, title)
	return w.Flush()
}
