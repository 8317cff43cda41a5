package sandbox

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// reserve is what a sandbox leaves free of the disk, for everybody else.
const reserve = 512 << 20

// mostPause is the longest time between two looks at what is written.
const mostPause = 5 * time.Second

// diskWatch looks after all that the commands of a sandbox write.
type diskWatch struct {
	quit chan struct{}
	wg   sync.WaitGroup
}

// watchDisk calls over, with the reason, each time it finds that more is used than the limits
// allow.
func watchDisk(dir string, l Limits, over func(why string)) *diskWatch {
	w := &diskWatch{quit: make(chan struct{})}
	base, baseFiles := usage(filepath.Join(dir, "copy")) // not written by commands
	w.wg.Go(func() {
		pause := 50 * time.Millisecond
		for {
			select {
			case <-w.quit:
				return
			case <-time.After(pause):
			}
			start := time.Now()
			bytes, files := usage(dir)
			switch {
			case bytes-base > l.Disk:
				over(fmt.Sprintf("more than %d MiB were written in all", l.Disk>>20))
			case files-baseFiles > l.Files:
				over(fmt.Sprintf("more than %d files were made", l.Files))
			case free(dir) < reserve:
				over(fmt.Sprintf("less than %d MiB are left on the disk of %s", reserve>>20, dir))
			}
			// A tenth of the time, but on a machine that is slow, or stops, what is written must not get
			// far beyond the limits meanwhile.
			pause = min(max(50*time.Millisecond, 10*time.Since(start)), mostPause)
		}
	})
	return w
}

func (w *diskWatch) stop() {
	close(w.quit)
	w.wg.Wait()
}

// usage returns the space and the number of files below a directory.
func usage(dir string) (bytes int64, files int) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it was removed meanwhile, or a command took the rights away
		}
		if info, err := d.Info(); err == nil {
			bytes += blocks(info)
			files++
		}
		return nil
	})
	return bytes, files
}
