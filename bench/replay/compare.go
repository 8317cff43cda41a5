package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// navigates matches a line that only changes the directory. Each step of a plan states its own, so such a
// line is in no plan, whether its author marked it as needed or not: it is not counted.
var navigates = regexp.MustCompile(`^((cd|pushd|popd)(\s+[^\s;&|<>]+)?(\s*>\s*/dev/null)?(\s*(;|&&)\s*|$))+$`)

// comparable returns what of a file has to be the same: its content, or of an archive what is in it. When
// a member was packed is never the same twice, and unpacking it gives another time, too.
func comparable(name string, content []byte) []byte {
	members, err := membersOf(name, content)
	if err != nil || members == nil {
		return content
	}
	return []byte(strings.Join(members, "\n"))
}

func membersOf(name string, content []byte) (members []string, err error) {
	switch {
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".jar"), strings.HasSuffix(name, ".whl"):
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil, err
		}
		for _, f := range z.File {
			in, err := f.Open()
			if err != nil {
				return nil, err
			}
			sum, err := sumOf(in)
			_ = in.Close()
			if err != nil {
				return nil, err
			}
			members = append(members, fmt.Sprintf("%s %s %d %s", f.Name, f.Mode(), f.Method, sum))
		}
	case strings.HasSuffix(name, ".tar"), strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		var in io.Reader = bytes.NewReader(content)
		if !strings.HasSuffix(name, ".tar") {
			if in, err = gzip.NewReader(in); err != nil {
				return nil, err
			}
		}
		for t := tar.NewReader(in); ; {
			h, err := t.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			sum, err := sumOf(t)
			if err != nil {
				return nil, err
			}
			members = append(members, fmt.Sprintf("%s %c %o %s %s", h.Name, h.Typeflag, h.Mode, h.Linkname, sum))
		}
	}
	return members, nil
}

func sumOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// logs matches what tools note for themselves, with times and random names: no two runs have the same. It matches also what
// is cached in the home directory, which can be made again.
var logs = regexp.MustCompile(`(^|/)(\.npm/(_logs|_cacache)(/.*)?|CMakeFiles/CMake(Output\.log|ConfigureLog\.yaml))$|^\.cache(/|$)`)
