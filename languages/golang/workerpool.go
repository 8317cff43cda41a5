package golang

import (
	"runtime"
	"sync"
)

// workerPool runs tasks on all cores. The effects of a task are visible only to the goroutine that waits
// for it, so that no result depends on the order in which tasks ran. wait panics if a task did.
type workerPool struct {
	running sync.WaitGroup
	places  chan struct{}

	mu       sync.Mutex // guards the following fields
	err      error
	panicked any
}

func newWorkerPool() *workerPool {
	return &workerPool{places: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// run starts a task when a worker is free. It is called by one goroutine.
func (c *workerPool) run(task func() error) {
	c.places <- struct{}{}
	c.running.Go(func() {
		defer func() {
			p := recover()
			c.mu.Lock()
			defer c.mu.Unlock()
			if p != nil && c.panicked == nil {
				c.panicked = p
			}
			<-c.places
		}()
		err := task()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err == nil {
			c.err = err
		}
	})
}

// wait returns the first error when all tasks are done.
func (c *workerPool) wait() error {
	c.running.Wait()
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

// spread calls do for each number below n, on all cores, and waits for the end.
func spread(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	c := newWorkerPool()
	for i := range n {
		c.run(func() error {
			do(i)
			return nil
		})
	}
	_ = c.wait() // they have no errors
}
