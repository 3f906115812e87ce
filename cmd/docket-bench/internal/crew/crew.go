// Package crew runs contestants that are processes: the program starts itself again
// for a role, and the children work when they are told to.
//
// # What it keeps
//
// The children, until [Crew.Close].
//
// # Guarantees
//
// A child does nothing between two orders. An error of one reaches the parent as
// text. A child whose parent is gone ends, as its orders do.
//
// # Crashes
//
// A child that dies is an error of the next order.
//
// # Format
//
// An order is a number of operations as one line on the child's standard input. The
// answer is one line on its standard output: "ok" and a figure, or "error" and why.
// A child says "ok 0" once it is ready.
package crew

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Verb is the argument that makes the program a child. The role and its arguments
// follow it.
const Verb = "child"

// A Worker does n operations and returns its figure, whatever that is.
type Worker func(n int) (figure float64, err error)

// A Role makes a child ready for work with the arguments of its [Start].
type Role func(args []string) (Worker, error)

// Obey is the life of a child: it carries out orders until there are none. The
// result is the exit status.
func Obey(role Role, args []string, orders io.Reader, answers io.Writer) int {
	if err := obey(role, args, bufio.NewScanner(orders), answers); err != nil {
		fmt.Fprintf(answers, "error %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	}
	return 0
}

func obey(role Role, args []string, orders *bufio.Scanner, answers io.Writer) error {
	work, err := role(args)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(answers, "ok 0"); err != nil {
		return err
	}
	for orders.Scan() {
		n, err := strconv.Atoi(orders.Text())
		if err != nil {
			return err
		}
		figure, err := work(n)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(answers, "ok %g\n", figure); err != nil {
			return err
		}
	}
	return orders.Err()
}

// A Crew is some children of one role.
type Crew struct{ members []*member }

type member struct {
	cmd     *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader
}

// Start starts the children of a role and waits until each one is ready.
func Start(ctx context.Context, children int, role string, args ...string) (*Crew, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &Crew{}
	for range children {
		m, err := enlist(ctx, program, append([]string{Verb, role}, args...))
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.members = append(c.members, m)
	}
	for _, m := range c.members {
		if _, err := m.answer(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

func enlist(ctx context.Context, program string, args []string) (*member, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 10 * time.Second
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &member{cmd, orders, bufio.NewReader(answers)}, cmd.Start()
}

// Size is the number of children.
func (c *Crew) Size() int { return len(c.members) }

// Work has each child do its share of n operations, all at the same time, and
// returns their figures. A share is rounded up; [Crew.Share] tells it.
func (c *Crew) Work(n int) ([]float64, error) {
	for _, m := range c.members {
		if err := m.order(c.Share(n)); err != nil {
			return nil, err
		}
	}
	figures := make([]float64, len(c.members))
	for i, m := range c.members {
		var err error
		if figures[i], err = m.answer(); err != nil {
			return nil, err
		}
	}
	return figures, nil
}

// Share is what each child does of n operations.
func (c *Crew) Share(n int) int { return (n + len(c.members) - 1) / len(c.members) }

// Order tells a crew of one child to do n operations, and does not wait for it.
func (c *Crew) Order(n int) error { return c.members[0].order(n) }

// Answer waits for the figure of an [Crew.Order].
func (c *Crew) Answer() (float64, error) { return c.members[0].answer() }

// Close ends the children and waits for them.
func (c *Crew) Close() error {
	var errs []error
	for _, m := range c.members {
		errs = append(errs, m.orders.Close())
	}
	for _, m := range c.members {
		if err := m.cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("child: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (m *member) order(n int) error {
	_, err := fmt.Fprintf(m.orders, "%d\n", n)
	return err
}

func (m *member) answer() (figure float64, err error) {
	line, err := m.answers.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("child: %w", err)
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if word != "ok" {
		return 0, fmt.Errorf("child: %s", rest)
	}
	_, err = fmt.Sscanf(rest, "%g", &figure)
	return figure, err
}
