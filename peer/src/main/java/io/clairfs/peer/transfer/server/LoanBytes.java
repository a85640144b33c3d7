package io.clairfs.peer.transfer.server;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

/** A lent sample as Netty writes it: the sample's own memory, and the loan's reference that goes when it is written. */
final class LoanBytes extends UnpooledDirectByteBuf {
    private final Loan.Memory loan;

    LoanBytes(Loan.Memory loan) {
        super(UnpooledByteBufAllocator.DEFAULT, loan.sample().bytes().asByteBuffer(), (int) loan.size());
        this.loan = loan;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        loan.release();
    }
}
