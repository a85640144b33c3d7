package io.clairfs.peer.transfer.server;

import io.netty.channel.DefaultFileRegion;

/** A lent piece of a file as Netty sends it with sendfile; the file stays open, only the loan goes. */
final class LoanFile extends DefaultFileRegion {
    private final Loan.Stored loan;

    LoanFile(Loan.Stored loan) {
        super(loan.file(), loan.offset(), loan.size());
        this.loan = loan;
    }

    @Override
    protected void deallocate() {
        loan.release();
    }
}
